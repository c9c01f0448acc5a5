"""Steps in order, what they are given, and the verbs that end them."""

import asyncio
from datetime import timedelta

import pytest

from roost.jobs import (
    JobArgs,
    JobKind,
    Run,
    Step,
    Verdict,
    WorkerSettings,
    again,
    done,
    next_step,
)
from roost.store import Queries, Store
from roost.waiting import NotYetError
from tests.jobs.bench import LAZY, QUICK, Bench
from tests.jobs.notes import NotingListener, note, notes, noting


class Words(JobArgs):
    word: str = "word"


class Engine:
    name = "engine"


async def say(run: Run[Words]) -> Verdict:
    return next_step(noting(run.job, f"{run.job.step} {run.args.word}"))


async def test_steps_run_in_order_and_commit_their_writes(noted: Store) -> None:
    kind = JobKind("k", Words, (Step("a", say), Step("b", say), Step("c", say)))
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Words(word="x"))
    async with bench.worker():
        job = await bench.ended(job_id)
    assert (job.status, job.percent, job.error, job.owner) == ("done", 100, None, None)
    assert await notes(noted, job_id) == ["a x", "b x", "c x"]


async def test_a_step_hands_its_result_to_later_ones(noted: Store) -> None:
    async def make(run: Run[Words]) -> Verdict:
        return next_step(result={"port": 7, "names": ["x"]})

    async def use(run: Run[Words]) -> Verdict:
        result = run.result("make")
        return next_step(noting(run.job, f"{result['port']} {result['names']}"))

    kind = JobKind("k", Words, (Step("make", make), Step("idle", say), Step("use", use)))
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Words())
    async with bench.worker():
        job = await bench.ended(job_id)
    assert (await notes(noted, job_id))[-1] == "7 ['x']"
    assert job.results == {"make": {"port": 7, "names": ["x"]}}


async def test_again_waits_without_counting_a_failure(noted: Store) -> None:
    async def poll(run: Run[Words]) -> Verdict:
        calls = len(await notes(run.store, run.job.id))
        assert run.attempt == 1
        return next_step() if calls == 12 else again(0.001, noting(run.job, "not yet"))

    kind = JobKind("k", Words, (Step("poll", poll),), retry=QUICK)
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Words())
    async with bench.worker():
        assert (await bench.ended(job_id)).status == "done"
    assert bench.metric("roost_job_retries_total", kind="k") == 0


async def test_again_at_once_does_not_wait_for_a_poll(noted: Store) -> None:
    async def poll(run: Run[Words]) -> Verdict:
        calls = len(await notes(run.store, run.job.id))
        return next_step() if calls == 20 else again(0, noting(run.job, "not yet"))

    kind = JobKind("k", Words, (Step("poll", poll),))
    bench = Bench(noted, kind, settings=LAZY)
    job_id = await bench.enqueue(kind, Words())
    async with asyncio.timeout(LAZY.poll / 2), bench.worker():
        assert (await bench.ended(job_id)).status == "done"


async def test_done_skips_the_steps_that_are_left(noted: Store) -> None:
    async def enough(run: Run[Words]) -> Verdict:
        return done(noting(run.job, "enough"))

    kind = JobKind("k", Words, (Step("a", enough), Step("b", say)))
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Words())
    async with bench.worker():
        assert (await bench.ended(job_id)).status == "done"
    assert await notes(noted, job_id) == ["enough"]


async def test_effects_and_listeners_are_told_in_order(noted: Store) -> None:
    async def enqueued(db: Queries, job: object, args: Words) -> None:
        await note(db, await db.fetchval("select max(id) from job"), f"effect {args.word}")

    kind = JobKind("k", Words, (Step("a", say),), on_enqueued=enqueued, on_done=enqueued)
    bench = Bench(noted, kind, listener=NotingListener())
    job_id = await bench.enqueue(kind, Words(word="x"))
    async with bench.worker():
        await bench.ended(job_id)
    expected = ["effect x", "enqueued", "started", "a x", "effect x", "finished"]
    assert await notes(noted, job_id) == expected


async def test_progress_is_shown_but_not_too_often(
    noted: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.jobs.execution._PROGRESS_SECONDS", 60)

    async def work(run: Run[Words]) -> Verdict:
        for percent in range(10, 60):
            await run.progress(percent)
        return next_step()

    kind = JobKind("k", Words, (Step("work", work),))
    bench = Bench(noted, kind, listener=NotingListener())
    job_id = await bench.enqueue(kind, Words())
    async with bench.worker():
        job = await bench.ended(job_id)
    assert await notes(noted, job_id) == ["enqueued", "started", "at 10 %", "finished"]
    assert job.percent == 100


async def test_services_are_found_by_type(noted: Store) -> None:
    async def use(run: Run[Words]) -> Verdict:
        with pytest.raises(LookupError):
            run.get(asyncio.Event)
        return next_step(noting(run.job, run.get(Engine).name))

    kind = JobKind("k", Words, (Step("use", use),))
    bench = Bench(noted, kind, services=[Engine()])
    job_id = await bench.enqueue(kind, Words())
    async with bench.worker():
        await bench.ended(job_id)
    assert await notes(noted, job_id) == ["engine"]


def test_mistakes_in_declarations_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="distinct"):
        JobKind("k", Words, (Step("a", say), Step("a", say)))
    with pytest.raises(ValueError, match="distinct"):
        JobKind("k", Words, ())
    kind = JobKind("k", Words, (Step("a", say),))
    with pytest.raises(ValueError, match="same name"):
        Bench(store, kind, kind)
    with pytest.raises(ValueError, match="nothing"):
        again(-1)


_FAULT = """
create sequence fault;
create function fail_once() returns void language plpgsql as $$ begin
    if nextval('fault') = 1 then raise exception 'no luck' using errcode = '40P01'; end if;
end $$;
"""


async def test_a_commit_that_a_deadlock_ended_is_tried_once_more(noted: Store) -> None:
    """The step has done its work, and is not run again for that."""
    await noted.execute(_FAULT)
    runs = 0

    async def write(db: Queries) -> None:
        await db.execute("select fail_once()")

    async def work(_run: Run[Words]) -> Verdict:
        nonlocal runs
        runs += 1
        return next_step(write)

    kind = JobKind("k", Words, (Step("a", work),))
    bench = Bench(noted, kind)
    job_id = await bench.enqueue(kind, Words())
    async with bench.worker():
        assert (await bench.ended(job_id)).status == "done"
    assert (runs, bench.metric("roost_job_retries_total", kind="k")) == (1, 0)


async def test_a_step_that_waits_for_its_data_plane_holds_no_slot(noted: Store) -> None:
    """Its failures go on counting, however often it is told to wait."""
    calls = 0

    async def work(run: Run[Words]) -> Verdict:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise NotYetError(3600)
        if calls % 2 == 0:
            raise NotYetError(0)
        raise RuntimeError(f"attempt {run.attempt}")

    kind = JobKind("k", Words, (Step("a", work),), retry=QUICK)
    bench = Bench(noted, kind, settings=WorkerSettings(slots=1, lease=0.6))
    waits = await bench.enqueue(kind, Words())
    async with bench.worker() as worker:
        await bench.reached(waits, "waiting")
        assert (await bench.job(waits)).error is None
        other = await bench.ended(await bench.enqueue(kind, Words()))
        assert (other.status, other.error) == ("failed", "An error occurred")
        assert calls == 7
        bench.clock.advance(timedelta(hours=1))
        worker.wake()
        assert (await bench.ended(waits)).status == "failed"
