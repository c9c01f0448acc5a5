"""Retries, undos and the state in which a failure leaves a resource."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from roost.errors import ShownError
from roost.jobs import Fatal, Job, JobArgs, JobKind, Retry, Run, Step, Verdict, fail, next_step
from roost.store import Queries, Store
from tests.jobs.bench import QUICK, Bench
from tests.jobs.notes import NotingListener, note, notes, noting


class Nothing(JobArgs):
    pass


class TemporaryError(ShownError):
    pass


class PermanentError(ShownError):
    pass


class LastingError(ShownError):
    lasting = True


Action = Callable[[Run[Nothing]], Awaitable[Verdict]]


def saying(text: str) -> Action:
    async def say(run: Run[Nothing]) -> Verdict:
        return next_step(noting(run.job, text))

    return say


def raising(error: Exception, attempts: int = 100) -> Action:
    """Fails the first attempts."""

    async def work(run: Run[Nothing]) -> Verdict:
        if run.attempt <= attempts:
            raise error
        return next_step(noting(run.job, f"attempt {run.attempt}"))

    return work


async def on_failed(db: Queries, job: Job, args: Nothing) -> None:
    await note(db, job.id, f"resource {job.status}")


def steps(last: Action, **changes: object) -> tuple[Step[Nothing], ...]:
    broken = replace(Step("c", last, undo=saying("undo c")), **changes)  # type: ignore[arg-type]
    return (
        Step("a", saying("a"), undo=saying("undo a")),
        Step("b", saying("b")),
        broken,
        Step("d", saying("d"), undo=saying("undo d")),
    )


async def run(bench: Bench, kind: JobKind[Nothing]) -> tuple[Job, list[str]]:
    job_id = await bench.enqueue(kind, Nothing())
    async with bench.worker():
        job = await bench.ended(job_id)
    return job, await notes(bench.store, job_id)


UNDONE = ["a", "b", "undo c", "undo a", "resource failed"]


async def test_a_passing_fault_is_retried(noted: Store) -> None:
    kind = JobKind("k", Nothing, steps(raising(TemporaryError("busy"), 2)), retry=QUICK)
    bench = Bench(noted, kind)
    job, said = await run(bench, kind)
    assert (job.status, job.error) == ("done", None)
    assert said == ["a", "b", "attempt 3", "d"]
    assert bench.metric("roost_job_retries_total", kind="k") == 2


async def test_after_the_last_attempt_undos_run_backwards(noted: Store) -> None:
    broken = steps(raising(TemporaryError("busy")))
    kind = JobKind("k", Nothing, broken, retry=QUICK, on_failed=on_failed)
    bench = Bench(noted, kind, listener=NotingListener())
    job, said = await run(bench, kind)
    assert (job.status, job.error, job.undo_error) == ("failed", "busy", None)
    assert said == ["enqueued", "started", "a", "b", "error: busy", *UNDONE[2:], "failed: busy"]
    assert bench.metric("roost_job_retries_total", kind="k") == 2
    assert bench.metric("roost_jobs_failed_total", kind="k") == 1


async def test_the_reason_is_told_while_it_is_retried(noted: Store) -> None:
    kind = JobKind("k", Nothing, steps(raising(TemporaryError("busy"), 2)), retry=QUICK)
    _, said = await run(Bench(noted, kind, listener=NotingListener()), kind)
    told = ["error: busy", "attempt 3", "error: None", "d", "finished"]
    assert said == ["enqueued", "started", "a", "b", *told]


async def failing(_run: Run[Nothing]) -> Verdict:
    return fail("no")


@pytest.mark.parametrize(
    "action",
    [raising(Fatal("no")), raising(PermanentError("no")), raising(LastingError("no")), failing],
    ids=["fatal", "permanent", "lasting", "verdict"],
)
async def test_some_failures_are_final_at_once(noted: Store, action: Action) -> None:
    kind = JobKind(
        "k", Nothing, steps(action), permanent=(PermanentError,), retry=QUICK, on_failed=on_failed
    )
    bench = Bench(noted, kind)
    job, said = await run(bench, kind)
    assert (job.status, job.error, said) == ("failed", "no", UNDONE)
    assert bench.metric("roost_job_retries_total", kind="k") == 0


async def test_an_undo_is_retried_whatever_the_fault(noted: Store) -> None:
    broken = steps(raising(Fatal("no")), undo=raising(LastingError("full"), 2))
    kind = JobKind("k", Nothing, broken, retry=QUICK, on_failed=on_failed)
    job, said = await run(Bench(noted, kind), kind)
    assert (job.status, job.error, job.undo_error) == ("failed", "no", None)
    assert said == ["a", "b", "attempt 3", "undo a", "resource failed"]


async def test_a_step_may_have_its_own_retry(noted: Store) -> None:
    broken = steps(raising(TemporaryError("busy"), 5), retry=Retry(attempts=6, base=0.0001))
    kind = JobKind("k", Nothing, broken, retry=QUICK)
    job, said = await run(Bench(noted, kind), kind)
    assert (job.status, said) == ("done", ["a", "b", "attempt 6", "d"])


async def test_a_timeout_is_a_failed_attempt(noted: Store) -> None:
    async def hang(_run: Run[Nothing]) -> Verdict:
        await asyncio.Event().wait()
        return next_step()

    kind = JobKind("k", Nothing, steps(hang, timeout=0.01), retry=QUICK, on_failed=on_failed)
    bench = Bench(noted, kind)
    job, said = await run(bench, kind)
    assert (job.error, said) == ("c took longer than 0.01 s", UNDONE)
    assert bench.metric("roost_job_retries_total", kind="k") == 2


async def test_a_write_that_fails_is_a_failed_attempt(noted: Store) -> None:
    async def work(run: Run[Nothing]) -> Verdict:
        async def write(db: Queries) -> None:
            await note(db, run.job.id, "never seen")
            raise TemporaryError("no such row")

        return next_step(write)

    kind = JobKind("k", Nothing, steps(work), retry=QUICK, on_failed=on_failed)
    job, said = await run(Bench(noted, kind), kind)
    assert (job.error, said) == ("no such row", UNDONE)


async def test_undos_are_retried(noted: Store) -> None:
    broken = steps(raising(Fatal("no")), undo=raising(TemporaryError("busy"), 2))
    kind = JobKind("k", Nothing, broken, retry=QUICK, on_failed=on_failed)
    job, said = await run(Bench(noted, kind), kind)
    assert (job.status, job.error, job.undo_error) == ("failed", "no", None)
    assert said == ["a", "b", "attempt 3", "undo a", "resource failed"]


async def test_an_undo_that_never_succeeds_ends_the_job_with_both_reasons(noted: Store) -> None:
    broken = steps(raising(Fatal("no")), undo=raising(TemporaryError("stuck")))
    kind = JobKind("k", Nothing, broken, retry=QUICK, on_failed=on_failed)
    bench = Bench(noted, kind)
    job, said = await run(bench, kind)
    assert (job.status, job.error, job.undo_error) == ("failed", "no", "stuck")
    assert said == ["a", "b", "resource failed"]
    assert bench.metric("roost_job_undo_failures_total", kind="k") == 1


async def test_a_failing_on_failed_is_retried_and_then_given_up(noted: Store) -> None:
    async def broken_effect(db: Queries, job: Job, args: Nothing) -> None:
        raise TemporaryError("no such row")

    kind = JobKind(
        "k", Nothing, (Step("a", raising(Fatal("no"))),), retry=QUICK, on_failed=broken_effect
    )
    bench = Bench(noted, kind, listener=NotingListener())
    job, said = await run(bench, kind)
    assert (job.status, job.error, job.undo_error) == ("failed", "no", "no such row")
    assert said[-1] == "failed: no"
    assert bench.metric("roost_job_undo_failures_total", kind="k") == 1


async def test_a_step_that_cancels_itself_has_failed(noted: Store) -> None:
    async def work(_run: Run[Nothing]) -> Verdict:
        raise asyncio.CancelledError

    kind = JobKind("k", Nothing, (Step("a", work),), retry=QUICK)
    job, _ = await run(Bench(noted, kind), kind)
    assert (job.status, job.error) == ("failed", "An error occurred")


async def test_users_are_told_only_what_is_meant_for_them(noted: Store) -> None:
    broken = steps(raising(KeyError("secret")))
    kind = JobKind("k", Nothing, broken, permanent=(KeyError,))
    job, _ = await run(Bench(noted, kind), kind)
    assert (job.status, job.error) == ("failed", "An error occurred")


async def test_a_job_of_another_release_fails_and_is_undone(noted: Store) -> None:
    kind = JobKind("k", Nothing, steps(saying("c")), on_failed=on_failed)
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Nothing())
    await noted.execute("update job set step = 'gone' where id = $1", job_id)
    async with bench.worker():
        job = await bench.ended(job_id)
    assert job.error == "k has no step gone in this release"
    assert await notes(noted, job_id) == ["undo d", "undo c", "undo a", "resource failed"]


async def test_arguments_that_do_not_fit_fail_the_job(noted: Store) -> None:
    class Number(JobArgs):
        n: int

    async def work(_run: Run[Number]) -> Verdict:
        return next_step()

    kind = JobKind("k", Number, (Step("a", work, undo=work),), on_failed=None)
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Number(n=1))
    await noted.execute("update job set args = '{}' where id = $1", job_id)
    async with bench.worker():
        job = await bench.ended(job_id)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error.startswith("the arguments do not fit k")


@pytest.mark.parametrize("failures", range(1, 12))
def test_backoff_doubles_up_to_five_minutes(failures: int) -> None:
    longest = min(2.0**failures, 300.0)
    delays = [Retry().delay(failures) for _ in range(200)]
    assert all(longest / 2 <= delay <= longest for delay in delays)
    assert len(set(delays)) > 1
