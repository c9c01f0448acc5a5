"""A worker that is asked to stop loses nothing and hands over quickly."""

import asyncio
import contextlib

import pytest

from roost.jobs import JobKind, Run, Step, Verdict, WorkerSettings, next_step
from roost.store import Store
from tests.jobs.bench import Bench
from tests.jobs.gates import FREE, GATED, Gate, Nothing
from tests.jobs.notes import notes

LONG_LEASE = WorkerSettings(lease=60, grace=0.2)


async def test_a_step_may_end_in_its_grace_and_the_next_runs_elsewhere(noted: Store) -> None:
    gate = Gate()
    patient = WorkerSettings(lease=60, grace=60)
    bench = Bench(noted, GATED, services=[gate], settings=patient)
    job_id = await bench.enqueue(GATED, Nothing())
    async with bench.worker() as worker:
        await gate.reached.wait()
        worker.stop()
        gate.opened.set()
    job = await bench.job(job_id)
    assert (job.status, job.step, job.owner, job.attempt) == ("waiting", "b", None, 0)
    assert await notes(noted, job_id) == ["a", "waited"]
    async with bench.worker():
        await bench.ended(job_id)
    assert await notes(noted, job_id) == ["a", "waited", "b"]


async def test_a_step_that_takes_too_long_is_handed_over_at_once(noted: Store) -> None:
    gate = Gate()
    bench = Bench(noted, GATED, services=[gate], settings=LONG_LEASE)
    job_id = await bench.enqueue(GATED, Nothing())
    async with bench.worker():
        await gate.reached.wait()
    job = await bench.job(job_id)
    assert (job.status, job.step, job.owner, job.attempt) == ("waiting", "wait", None, 0)
    gate.opened.set()
    async with bench.worker():
        assert (await bench.ended(job_id)).fence == 2
    assert await notes(noted, job_id) == ["a", "waited", "b"]


async def test_a_stopping_worker_takes_no_more_jobs(noted: Store) -> None:
    bench = Bench(noted, FREE)
    async with bench.worker() as worker:
        worker.stop()
    job_id = await bench.enqueue(FREE, Nothing())
    assert (await bench.job(job_id)).status == "queued"


async def test_a_step_that_ignores_its_cancellation_does_not_hold_up_the_stop(
    noted: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.jobs.worker._LAST_SECONDS", 0.2)
    begun, freed = asyncio.Event(), asyncio.Event()

    async def ignore(_run: Run[Nothing]) -> Verdict:
        begun.set()
        while not freed.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await freed.wait()
        return next_step()

    kind = JobKind("k", Nothing, (Step("ignore", ignore),))
    bench = Bench(noted, kind, settings=LONG_LEASE)
    job_id = await bench.enqueue(kind, Nothing())
    async with asyncio.timeout(60), bench.worker():
        await begun.wait()
    assert (await bench.job(job_id)).status == "running"
    freed.set()
    await bench.ended(job_id)
