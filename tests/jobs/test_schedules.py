"""One job for each tick, whoever is there to see it."""

import asyncio
from datetime import datetime, timedelta

import pytest

from roost.jobs import AnySchedule, JobArgs, JobKind, Run, Schedule, Step, Verdict, next_step
from roost.jobs.schedules import Scheduler
from roost.store import Store
from tests.jobs.bench import Bench, until
from tests.jobs.conftest import Logs
from tests.jobs.notes import noting


class Nothing(JobArgs):
    pass


async def work(run: Run[Nothing]) -> Verdict:
    return next_step(noting(run.job, str(run.job.tick)))


WORK = JobKind("work", Nothing, (Step("work", work),))

HOURLY = Schedule("hourly", "0 * * * *", WORK, Nothing())
EVERY_HOUR = Schedule("every_hour", "0 * * * *", WORK, Nothing(), catch_up=True)

NOON = datetime(2030, 1, 1, 12)


def at(bench: Bench, time: datetime) -> None:
    bench.clock.advance(time - bench.clock.now())


async def ticks(store: Store, name: str) -> list[datetime]:
    rows = await store.fetch("select tick from job where schedule = $1 order by id", name)
    return [row["tick"] for row in rows]


async def started(bench: Bench, *schedules: AnySchedule) -> Scheduler:
    """A scheduler that has seen its schedules at half past eleven."""
    at(bench, NOON - timedelta(minutes=30))
    scheduler = Scheduler(bench.store, bench.queue, schedules)
    await scheduler.tick()
    return scheduler


async def test_a_schedule_begins_with_the_tick_after_it_was_made(store: Store) -> None:
    bench = Bench(store, WORK)
    scheduler = await started(bench, HOURLY)
    assert await ticks(store, "hourly") == []
    for minutes in (0, 1, 59, 60):
        at(bench, NOON + timedelta(minutes=minutes))
        await scheduler.tick()
        await scheduler.tick()
    assert await ticks(store, "hourly") == [NOON, NOON + timedelta(hours=1)]


async def test_three_schedulers_make_one_job_a_tick(store: Store, logs: Logs) -> None:
    bench = Bench(store, WORK)
    await started(bench, HOURLY, EVERY_HOUR)
    schedulers = [Scheduler(store, bench.queue, [HOURLY, EVERY_HOUR]) for _ in range(3)]
    expected = []
    for hour in range(5):
        expected.append(NOON + timedelta(hours=hour))
        at(bench, expected[-1])
        await asyncio.gather(*(scheduler.tick() for scheduler in schedulers))
    assert await ticks(store, "hourly") == expected
    assert await ticks(store, "every_hour") == expected
    assert logs == []


async def test_after_a_pause_only_the_latest_tick_is_run(store: Store) -> None:
    bench = Bench(store, WORK)
    await started(bench, HOURLY)
    at(bench, NOON + timedelta(days=3, minutes=5))
    await Scheduler(store, bench.queue, [HOURLY]).tick()
    assert await ticks(store, "hourly") == [NOON + timedelta(days=3)]


async def test_a_schedule_that_catches_up_runs_every_tick(store: Store) -> None:
    bench = Bench(store, WORK)
    scheduler = await started(bench, EVERY_HOUR)
    at(bench, NOON + timedelta(hours=2500))
    await scheduler.tick()
    made = await ticks(store, "every_hour")
    assert made == [NOON + timedelta(hours=hour) for hour in range(2501)]


async def test_the_jobs_of_a_schedule_run_in_turn(noted: Store) -> None:
    bench = Bench(noted, WORK)
    await started(bench, EVERY_HOUR)
    at(bench, NOON + timedelta(hours=3))
    async with bench.worker(EVERY_HOUR):

        async def all_done() -> bool:
            query = "select count(*) from job where schedule = 'every_hour' and status = 'done'"
            count: int = await noted.fetchval(query)
            return count == 4

        await until(all_done)
    rows = await noted.fetch("select text from note order by id")
    assert [row["text"] for row in rows] == [str(NOON + timedelta(hours=n)) for n in range(4)]


async def test_a_broken_schedule_does_not_hold_up_others(store: Store) -> None:
    bench = Bench(store, WORK)
    scheduler = await started(bench, HOURLY, EVERY_HOUR)
    await store.execute("delete from job_schedule where name = 'hourly'")
    at(bench, NOON)
    await scheduler.tick()
    assert await ticks(store, "every_hour") == [NOON]


def test_a_wrong_cron_expression_is_refused() -> None:
    with pytest.raises(ValueError, match="no cron expression"):
        Schedule("x", "61 * * * *", WORK, Nothing())
