"""Enqueueing: in the caller's transaction, at once, in turn."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from roost.jobs import (
    Job,
    JobArgs,
    JobKind,
    JobQueue,
    NullListener,
    Run,
    Step,
    Verdict,
    next_step,
)
from roost.store import Queries, Store
from tests.jobs.bench import LAZY, Bench, until
from tests.jobs.conftest import Logs
from tests.jobs.notes import NotingListener, note, notes, noting
from tests.support.blocking import BLOCKED


class Nothing(JobArgs):
    pass


async def work(run: Run[Nothing]) -> Verdict:
    return next_step(noting(run.job, "ran"))


async def _mark(db: Queries, job: Job, args: Nothing) -> None:
    await note(db, job.id, "marked")


WORK = JobKind("work", Nothing, (Step("work", work),), on_enqueued=_mark)


class Gate:
    """Steps that wait until a test opens it, and what it saw of them."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.inside: set[str | None] = set()
        self.order: list[int] = []


async def wait(run: Run[Nothing]) -> Verdict:
    gate, resource = run.get(Gate), run.job.resource
    assert resource is None or resource not in gate.inside
    gate.inside.add(resource)
    gate.order.append(run.job.id)
    await gate.opened.wait()
    await run.store.fetchval("select 1")
    gate.inside.discard(resource)
    return next_step(noting(run.job, "ran"))


WAIT = JobKind("wait", Nothing, (Step("wait", wait),))


class _RolledBackError(Exception):
    pass


async def test_a_job_works_on_what_its_kind_says(noted: Store) -> None:
    """Unless it is told otherwise, as by a schedule."""
    kind = JobKind("k", Nothing, (Step("work", work),), resource=lambda _args: "lamp:1")
    queue = Bench(noted, kind).queue
    job = await queue.enqueue(noted, kind, Nothing())
    other = await queue.enqueue(noted, kind, Nothing(), resource="schedule:k")
    assert (job.resource, other.resource) == ("lamp:1", "schedule:k")


async def test_a_rollback_leaves_nothing(noted: Store) -> None:
    bench = Bench(noted, WORK, listener=NotingListener())
    try:
        async with noted.transaction() as conn:
            await bench.queue.enqueue(conn, WORK, Nothing())
            raise _RolledBackError
    except _RolledBackError:
        pass
    assert await noted.fetchval("select count(*) from job") == 0
    assert await noted.fetchval("select count(*) from note") == 0


async def test_nothing_starts_before_the_commit(noted: Store) -> None:
    bench = Bench(noted, WORK)
    async with bench.worker():
        async with noted.transaction() as conn:
            first = (await bench.queue.enqueue(conn, WORK, Nothing())).id
            later = await bench.enqueue(WORK, Nothing())
            await bench.ended(later)
            assert await bench.queue.find(noted, first) is None
        await bench.ended(first)


async def test_a_commit_wakes_the_worker(noted: Store) -> None:
    bench = Bench(noted, WORK, settings=LAZY)
    async with bench.worker():
        await bench.ended(await bench.enqueue(WORK, Nothing()))
        started = asyncio.get_running_loop().time()
        await bench.ended(await bench.enqueue(WORK, Nothing()))
        assert asyncio.get_running_loop().time() - started < LAZY.poll / 2


async def test_a_lost_notification_is_made_good_by_polling(noted: Store) -> None:
    bench = Bench(noted, WORK)
    async with bench.worker():
        await bench.ended(await bench.enqueue(WORK, Nothing()))
        insert = """insert into job (kind, args, step, run_at, deadline, created)
            values ('work', '{}', 'work', now(), now(), now()) returning id"""
        await bench.ended(await noted.fetchval(insert))


async def test_one_resource_one_job_first_come_first_served(noted: Store) -> None:
    gate = Gate()
    bench = Bench(noted, WAIT, services=[gate])
    async with bench.worker(), bench.worker():
        first = await bench.enqueue(WAIT, Nothing(), "x:1")
        second = await bench.enqueue(WAIT, Nothing(), "x:1")
        third = await bench.enqueue(WAIT, Nothing(), "x:1")
        other = await bench.enqueue(WAIT, Nothing(), "x:2")
        await bench.reached(first, "running")
        await bench.reached(other, "running")
        assert (await bench.job(second)).status == "queued"
        gate.opened.set()
        jobs = [await bench.ended(job_id) for job_id in (first, second, third)]
    assert [job.status for job in jobs] == ["done"] * 3
    assert [job_id for job_id in gate.order if job_id != other] == [first, second, third]


async def test_a_lower_id_that_commits_later_waits_for_its_turn(noted: Store) -> None:
    gate = Gate()
    bench = Bench(noted, WAIT, services=[gate])
    async with bench.worker():
        async with noted.transaction() as conn:
            late = (await bench.queue.enqueue(conn, WAIT, Nothing(), resource="x:1")).id
            early = await bench.enqueue(WAIT, Nothing(), "x:1")
            await bench.reached(early, "running")
        others = [await bench.enqueue(WAIT, Nothing(), f"y:{n}") for n in range(5)]
        for job_id in others:
            await bench.reached(job_id, "running")
        assert (await bench.job(late)).status == "queued"
        gate.opened.set()
        assert (await bench.ended(late)).status == "done"


async def test_a_conflict_of_two_claims_does_not_hold_up_others(noted: Store, logs: Logs) -> None:
    """One worker has begun a later job of a resource, another sees the earlier one as free."""
    bench = Bench(noted, WORK, WAIT)
    async with noted.transaction() as conn:
        earlier = (await bench.queue.enqueue(conn, WORK, Nothing(), resource="x:1")).id
        later = await bench.enqueue(WORK, Nothing(), "x:1")
        begin = "update job set status = 'waiting', run_at = 'infinity' where id = $1"
        claimer = await noted.pool.take()
        transaction = claimer.transaction()
        await transaction.start()
        await claimer.execute(begin, later)
    others = [await bench.enqueue(WORK, Nothing()) for _ in range(5)]
    async with bench.worker():

        async def is_blocked() -> bool:
            blocked: bool = await noted.fetchval(BLOCKED)
            return blocked

        await until(is_blocked)
        await transaction.commit()
        noted.pool.give_back(claimer)
        for job_id in others:
            await bench.ended(job_id)
        assert "job_claim_failed" not in [line["event"] for line in logs]
        assert (await bench.job(earlier)).status == "queued"
        await noted.execute("update job set run_at = '-infinity' where id = $1", later)
        await bench.ended(earlier)


async def test_a_job_starts_when_the_clock_says_so(noted: Store) -> None:
    bench = Bench(noted, WORK)
    tomorrow = bench.clock.now() + timedelta(days=1)
    planned = await bench.enqueue(WORK, Nothing(), "x:1", run_at=tomorrow)
    assert not await bench.queue.busy(noted, "x:1")
    async with bench.worker() as worker:
        await bench.ended(await bench.enqueue(WORK, Nothing(), "x:1"))
        assert (await bench.job(planned)).status == "queued"
        bench.clock.advance(timedelta(days=1))
        worker.wake()
        await bench.ended(planned)


async def test_busy_tells_of_due_and_running_jobs(noted: Store) -> None:
    gate = Gate()
    bench = Bench(noted, WAIT, services=[gate])
    assert not await bench.queue.busy(noted, "x:1")
    job_id = await bench.enqueue(WAIT, Nothing(), "x:1")
    assert await bench.queue.busy(noted, "x:1")
    async with bench.worker():
        await bench.reached(job_id, "running")
        assert await bench.queue.busy(noted, "x:1")
        gate.opened.set()
        await bench.ended(job_id)
    assert not await bench.queue.busy(noted, "x:1")


async def test_jobs_that_are_due_together_are_begun_together(noted: Store) -> None:
    begun = list[int]()

    class Counting(NullListener):
        async def started(self, conn: Queries, jobs: Sequence[Job]) -> None:
            begun.append(len(jobs))

    bench = Bench(noted, WORK, listener=Counting())
    job_ids = [await bench.enqueue(WORK, Nothing()) for _ in range(5)]
    async with bench.worker():
        for job_id in job_ids:
            await bench.ended(job_id)
    assert begun == [5]


async def test_a_listener_that_refuses_one_start_does_not_hold_up_others(noted: Store) -> None:
    class Refusing(NullListener):
        async def started(self, conn: Queries, jobs: Sequence[Job]) -> None:
            if any(job.resource == "x:bad" for job in jobs):
                raise ValueError("no event")

    bench = Bench(noted, WORK, listener=Refusing())
    bad = await bench.enqueue(WORK, Nothing(), "x:bad")
    good = [await bench.enqueue(WORK, Nothing()) for _ in range(3)]
    async with bench.worker() as worker:
        for job_id in good:
            await bench.ended(job_id)
        assert (await bench.job(bad)).status == "queued"
        bench.environment.queue.listener = NullListener()
        bench.clock.advance(timedelta(minutes=1))
        worker.wake()
        await bench.ended(bad)


async def test_jobs_of_kinds_that_a_worker_does_not_know_are_left_alone(noted: Store) -> None:
    bench = Bench(noted, WORK)
    newer = JobQueue([WAIT], bench.clock, NullListener())
    async with noted.transaction() as conn:
        unknown = (await newer.enqueue(conn, WAIT, Nothing(), resource="x:1")).id
    behind = await bench.enqueue(WORK, Nothing(), "x:1")
    async with bench.worker():
        job_id = await bench.enqueue(WORK, Nothing())
        await bench.ended(job_id)
    assert (await bench.job(unknown)).status == "queued"
    assert (await bench.job(behind)).status == "queued"
    assert await notes(noted, job_id) == ["marked", "ran"]
