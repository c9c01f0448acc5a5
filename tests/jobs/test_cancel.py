"""Cancelling and pre-empting, whatever state a job is in."""

import asyncio
from dataclasses import replace

import pytest

from roost.jobs import JobKind, Retry, Run, Step, Verdict, WorkerSettings, again, fail, next_step
from roost.store import Store
from tests.jobs.bench import QUICK, Bench, until
from tests.jobs.gates import FREE, GATED, Gate, Nothing, saying, wait
from tests.jobs.notes import NotingListener, notes
from tests.support.blocking import BLOCKED


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def bench(noted: Store, gate: Gate) -> Bench:
    return Bench(noted, GATED, FREE, WAITING, UNDOING, listener=NotingListener(), services=[gate])


async def _never(_run: Run[Nothing]) -> Verdict:
    return again(3600)


async def _refuse(_run: Run[Nothing]) -> Verdict:
    return fail("no")


WAITING = JobKind(
    "waiting",
    Nothing,
    (Step("a", saying("a"), undo=saying("undo a")), Step("never", _never)),
    retry=QUICK,
)

UNDOING = JobKind(
    "undoing",
    Nothing,
    (Step("a", saying("a"), undo=saying("undo a")), Step("refuse", _refuse, undo=wait)),
    retry=QUICK,
)


async def cancel(bench: Bench, job_id: int) -> bool:
    async with bench.store.transaction() as conn:
        return await bench.queue.cancel(conn, job_id, "changed my mind")


async def preempt(bench: Bench, resource: str) -> int:
    """Pre-empt and enqueue what does the rest, as a deletion does."""
    async with bench.store.transaction() as conn:
        await bench.queue.preempt(conn, resource, "deleted")
        return (await bench.queue.enqueue(conn, FREE, Nothing(), resource=resource)).id


async def test_a_queued_job_is_cancelled_at_once(bench: Bench) -> None:
    job_id = await bench.enqueue(GATED, Nothing())
    assert await cancel(bench, job_id)
    job = await bench.job(job_id)
    assert (job.status, job.error) == ("cancelled", "changed my mind")
    said = await notes(bench.store, job_id)
    assert said == ["enqueued", "resource cancelled", "cancelled: changed my mind"]


async def test_a_running_job_is_stopped_and_undone(bench: Bench, gate: Gate) -> None:
    job_id = await bench.enqueue(GATED, Nothing())
    async with bench.worker():
        await gate.reached.wait()
        assert await cancel(bench, job_id)
        assert not await cancel(bench, job_id)
        job = await bench.ended(job_id)
    assert (job.status, job.error) == ("cancelled", "changed my mind")
    said = await notes(bench.store, job_id)
    undone = ["undo wait", "undo a", "resource cancelled", "cancelled: changed my mind"]
    assert said == ["enqueued", "started", "a", "error: changed my mind", *undone]
    assert bench.metric("roost_jobs_cancelled_total", kind="gated") == 1


async def test_a_cancel_does_not_wait_for_a_heartbeat(noted: Store, gate: Gate) -> None:
    bench = Bench(noted, GATED, services=[gate], settings=WorkerSettings(lease=600))
    job_id = await bench.enqueue(GATED, Nothing())
    async with bench.worker():
        await gate.reached.wait()
        assert await cancel(bench, job_id)
        async with asyncio.timeout(60):
            await bench.ended(job_id)


async def test_a_lost_notification_of_a_cancel_is_made_good(bench: Bench, gate: Gate) -> None:
    job_id = await bench.enqueue(GATED, Nothing())
    async with bench.worker():
        await gate.reached.wait()
        flag = "update job set stop = 'cancel', stop_reason = 'x', revision = revision + 1"
        await bench.store.execute(f"{flag} where id = $1", job_id)
        assert (await bench.ended(job_id)).status == "cancelled"


async def test_a_waiting_job_is_undone_at_once(bench: Bench) -> None:
    job_id = await bench.enqueue(WAITING, Nothing())
    async with bench.worker():
        await bench.reached(job_id, "waiting")
        assert await cancel(bench, job_id)
        assert (await bench.ended(job_id)).status == "cancelled"
    assert (await notes(bench.store, job_id))[2:-1] == [
        "a",
        "error: changed my mind",
        "undo a",
    ]


async def test_there_is_nothing_to_cancel_in_a_job_that_ends(bench: Bench, gate: Gate) -> None:
    job_id = await bench.enqueue(UNDOING, Nothing())
    async with bench.worker():
        await gate.reached.wait()
        assert not await cancel(bench, job_id)
        gate.opened.set()
        job = await bench.ended(job_id)
    assert (job.status, job.error) == ("failed", "no")
    assert not await cancel(bench, job_id)
    assert not await cancel(bench, 99)


async def test_a_cancel_whose_undo_fails_is_a_failure(noted: Store, gate: Gate) -> None:
    steps = (replace(GATED.steps[1], undo=_refuse),)
    kind = replace(GATED, steps=steps)
    bench = Bench(noted, kind, services=[gate])
    job_id = await bench.enqueue(kind, Nothing())
    async with bench.worker():
        await gate.reached.wait()
        await cancel(bench, job_id)
        job = await bench.ended(job_id)
    assert (job.status, job.error, job.undo_error) == ("failed", "changed my mind", "no")


async def test_a_deletion_preempts_a_running_job_and_the_queue(bench: Bench, gate: Gate) -> None:
    running = await bench.enqueue(GATED, Nothing(), "x:1")
    queued = await bench.enqueue(GATED, Nothing(), "x:1")
    async with bench.worker():
        await gate.reached.wait()
        last = await preempt(bench, "x:1")
        assert (await bench.job(queued)).status == "cancelled"
        assert (await bench.ended(last)).status == "done"
    job = await bench.job(running)
    assert (job.status, job.error) == ("cancelled", "deleted")
    assert await notes(bench.store, running) == ["enqueued", "started", "a", "cancelled: deleted"]
    assert await notes(bench.store, queued) == ["enqueued", "cancelled: deleted"]


async def test_a_deletion_preempts_a_waiting_job(bench: Bench) -> None:
    waiting = await bench.enqueue(WAITING, Nothing(), "x:1")
    async with bench.worker():
        await bench.reached(waiting, "waiting")
        await bench.ended(await preempt(bench, "x:1"))
    assert (await bench.job(waiting)).status == "cancelled"
    assert "undo a" not in await notes(bench.store, waiting)


async def test_a_deletion_preempts_an_undo(bench: Bench, gate: Gate) -> None:
    undoing = await bench.enqueue(UNDOING, Nothing(), "x:1")
    async with bench.worker():
        await gate.reached.wait()
        await bench.ended(await preempt(bench, "x:1"))
    assert (await bench.job(undoing)).status == "cancelled"
    assert "undo a" not in await notes(bench.store, undoing)


async def test_a_deletion_waits_for_the_lease_of_a_dead_worker(bench: Bench, gate: Gate) -> None:
    running = await bench.enqueue(GATED, Nothing(), "x:1")
    await bench.store.execute(
        """update job set status = 'running', owner = 'dead', fence = 1,
            lease_until = clock_timestamp() + interval '0.3 s' where id = $1""",
        running,
    )
    last = await preempt(bench, "x:1")
    async with bench.worker():
        await bench.ended(last)
    assert (await bench.job(running)).status == "cancelled"
    assert await notes(bench.store, running) == ["enqueued", "cancelled: deleted"]


async def test_a_commit_that_comes_after_the_stop_writes_nothing(bench: Bench, gate: Gate) -> None:
    """The stop becomes visible while the step's write waits for a row of the resource."""
    job_id = await bench.enqueue(GATED, Nothing(), "x:1")
    async with bench.worker():
        await gate.reached.wait()
        async with bench.store.transaction() as conn:
            await conn.execute("lock table note in access exclusive mode")
            gate.opened.set()

            async def is_blocked() -> bool:
                blocked: bool = await bench.store.fetchval(BLOCKED)
                return blocked

            await until(is_blocked)
            await bench.queue.preempt(conn, "x:1", "deleted")
        await bench.ended(job_id)
    assert await notes(bench.store, job_id) == ["enqueued", "started", "a", "cancelled: deleted"]


async def _fail_once(run: Run[Nothing]) -> Verdict:
    if run.attempt == 1:
        raise OSError("no room")
    return next_step()


PATIENT = JobKind(
    "patient", Nothing, (Step("a", _fail_once),), retry=Retry(attempts=3, base=3600, longest=3600)
)


async def hasten(bench: Bench, job_id: int) -> bool:
    async with bench.store.transaction() as conn:
        return await bench.queue.hasten(conn, job_id)


async def test_a_job_that_waits_after_a_failure_is_tried_at_once(noted: Store) -> None:
    bench = Bench(noted, PATIENT)
    job_id = await bench.enqueue(PATIENT, Nothing())
    assert not await hasten(bench, job_id), "it has not been tried yet"
    assert not await hasten(bench, job_id + 1000)
    async with bench.worker():
        await until(lambda: _waits(bench, job_id))
        assert await hasten(bench, job_id)
        assert (await bench.ended(job_id)).status == "done"
    assert not await hasten(bench, job_id)


async def _waits(bench: Bench, job_id: int) -> bool:
    return (await bench.job(job_id)).status == "waiting"
