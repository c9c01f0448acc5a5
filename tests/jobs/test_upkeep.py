"""Deadlines, figures and old rows."""

from datetime import timedelta

from roost.jobs import JobKind, Step, upkeep_queries
from roost.store import Store
from tests.jobs.bench import Bench, until
from tests.jobs.conftest import Logs
from tests.jobs.gates import FREE, GATED, Gate, Nothing, wait


async def test_a_passed_deadline_raises_an_alert_and_the_job_goes_on(
    noted: Store, logs: Logs
) -> None:
    gate = Gate()
    kind = JobKind("late", Nothing, (Step("wait", wait),), deadline=600)
    bench = Bench(noted, kind, services=[gate])
    job_id = await bench.enqueue(kind, Nothing())

    async def alerted() -> bool:
        return bench.metric("roost_jobs_overdue_total", kind="late") == 1

    async with bench.worker():
        await gate.reached.wait()
        # The lab's clock says nothing about how long a job has taken.
        bench.clock.advance(timedelta(days=365))
        assert await upkeep_queries.mark_overdue(noted, bench.clock.now()) == []
        await noted.execute("update job set deadline = deadline - interval '601 s'")
        await until(alerted)
        gate.opened.set()
        assert (await bench.ended(job_id)).status == "done"
    assert await noted.fetchval("select overdue from job where id = $1", job_id)
    assert [line["job"] for line in logs if line["event"] == "job_overdue"] == [job_id]
    assert await alerted()


async def test_a_job_that_is_not_due_yet_is_not_overdue(noted: Store) -> None:
    bench = Bench(noted, FREE)
    await bench.enqueue(FREE, Nothing(), run_at=bench.clock.now() + timedelta(days=1))
    await noted.execute("update job set deadline = now() - interval '1 s'")
    assert await upkeep_queries.mark_overdue(noted, bench.clock.now()) == []
    tomorrow = bench.clock.now() + timedelta(days=1)
    assert len(await upkeep_queries.mark_overdue(noted, tomorrow)) == 1


async def test_figures_tell_what_is_unfinished_and_how_old(noted: Store) -> None:
    gate = Gate()
    bench = Bench(noted, GATED, FREE, services=[gate])
    await bench.enqueue(GATED, Nothing(), "x:1")
    for _ in range(3):
        await bench.enqueue(FREE, Nothing(), "x:1")
    async with bench.worker():
        await gate.reached.wait()
        bench.clock.advance(timedelta(seconds=1000))
        await bench.enqueue(FREE, Nothing(), run_at=bench.clock.now() + timedelta(days=1))
    async with bench.worker():

        async def shown() -> bool:
            return bench.metric("roost_jobs", kind="free", status="queued") == 4

        await until(shown)
        assert 1000 <= bench.metric("roost_job_queue_age_seconds", kind="free") < 1200
        assert bench.metric("roost_job_queue_age_seconds", kind="gated") == 0
        gate.opened.set()


async def test_jobs_that_ended_long_ago_are_forgotten(noted: Store) -> None:
    bench = Bench(noted, FREE)
    old = [await bench.enqueue(FREE, Nothing()) for _ in range(3)]
    later = await bench.enqueue(FREE, Nothing(), run_at=bench.clock.now() + timedelta(days=365))
    async with bench.worker() as worker:
        for job_id in old:
            await bench.ended(job_id)
        await _scheduled(bench)
        bench.clock.advance(timedelta(days=29))
        worker.wake()
        await _nights(bench, 1)
        assert await bench.queue.find(noted, old[0]) is not None
        young = await bench.enqueue(FREE, Nothing())
        await bench.ended(young)
        bench.clock.advance(timedelta(days=3))
        worker.wake()
        await _nights(bench, 2)
    for job_id in old:
        assert await bench.queue.find(noted, job_id) is None
    assert await bench.queue.find(noted, young) is not None
    assert await bench.queue.find(noted, later) is not None


async def _scheduled(bench: Bench) -> None:
    """A schedule ticks only after some worker has seen it for the first time."""

    async def seen() -> bool:
        found: bool = await bench.store.fetchval("select exists (select from job_schedule)")
        return found

    await until(seen)


async def _nights(bench: Bench, count: int) -> None:
    async def done() -> bool:
        query = "select count(*) from job where kind = 'job_retention' and status = 'done'"
        found: int = await bench.store.fetchval(query)
        return found == count

    await until(done)
