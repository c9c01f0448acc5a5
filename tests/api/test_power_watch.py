"""The power watch: guests that go off or on by themselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from roost.app.groups import SCHEDULES
from roost.app.roost import open_roost
from roost.jobs.run import Run, Tools
from roost.resources.compute import watch
from roost.resources.compute.jobs import SHUTDOWN, enqueue_power
from roost.resources.events.log import Actor
from roost.settings import Settings
from tests.support.client import until
from tests.support.server import running_roost, simulated
from tests.support.stage import Stage


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return simulated(tmp_path, database_url)


@pytest.fixture
async def stage(settings: Settings) -> AsyncIterator[Stage]:
    """A Roost without a worker."""
    async with open_roost(settings) as roost:
        yield Stage(roost)


async def look(stage: Stage) -> None:
    """The watch's only step, as a worker would run it."""
    roost, args = stage.roost, watch.WatchArgs()
    job = await roost.queue.enqueue(roost.store, watch.WATCH, args)

    async def report(_percent: int) -> None:
        raise AssertionError("the watch reports no progress")

    await watch.look(Run(args, job, Tools(roost.store, roost.clock, roost.services, report)))


async def test_watchdog_boots_again(stage: Stage) -> None:
    compute_id = await stage.instance("running", "offline")
    await look(stage)
    assert await stage.status(compute_id) == "booting"
    assert await stage.events(compute_id) == [("lassie_reboot", "scheduled", None)]
    await look(stage)
    assert len(await stage.events(compute_id)) == 1


async def test_watchdog_gives_up_in_the_end(stage: Stage) -> None:
    compute_id = await stage.instance("running", "offline")
    for _ in range(5):
        await look(stage)
        await stage.roost.store.execute("delete from job")
        await stage.change(compute_id, "status = 'running'")
    await look(stage)
    assert await stage.status(compute_id) == "offline"
    assert (await stage.events(compute_id))[-1] == ("compute_shutdown", "notification", None)
    await stage.change(compute_id, "status = 'running'")
    stage.roost.clock.advance(timedelta(minutes=16))
    await look(stage)
    assert await stage.status(compute_id) == "booting"


async def test_without_watchdog_it_is_offline(stage: Stage) -> None:
    compute_id = await stage.instance("running", "offline", watchdog=False)
    await look(stage)
    assert await stage.status(compute_id) == "offline"
    assert await stage.events(compute_id) == [("compute_shutdown", "notification", None)]


async def test_guest_that_runs_is_shown_as_running(stage: Stage) -> None:
    compute_id = await stage.instance("offline", "running")
    await look(stage)
    assert await stage.status(compute_id) == "running"
    assert await stage.events(compute_id) == []


async def test_only_power_is_watched(stage: Stage) -> None:
    well = await stage.instance("running", "running")
    gone = await stage.instance("running")
    stuck = await stage.instance("booting", "offline")
    await look(stage)
    assert await stage.status(well) == "running"
    assert await stage.status(gone) == "running"
    assert await stage.status(stuck) == "booting"


async def test_what_a_job_works_on_is_left_alone(stage: Stage) -> None:
    compute_id = await stage.instance("running", "offline")
    row = await stage.row(compute_id)
    async with stage.roost.store.transaction() as db:
        await enqueue_power(stage.roost.queue, db, SHUTDOWN, row, Actor(row.account_id, None))
    await stage.change(compute_id, "status = 'running'")
    await look(stage)
    assert await stage.status(compute_id) == "running"
    assert [event[0] for event in await stage.events(compute_id)] == ["compute_shutdown"]


async def test_region_whose_engine_fails_does_not_hinder_others(stage: Stage) -> None:
    blind = await stage.instance("running", "offline", region="local")
    [disk, _] = await stage.disks(blind)
    await stage.engine("local").disks.make(disk.spec)
    await stage.engine("local").plan.fail("inspect", "no power")
    seen = await stage.instance("running", "offline")
    await look(stage)
    assert await stage.status(blind) == "running"
    assert await stage.status(seen) == "booting"


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Stage]:
    async with running_roost(settings) as running:
        yield Stage(running.roost)


async def rebooted(stage: Stage, compute_id: int) -> None:
    """Wait until the watchdog has booted it again."""
    finished = ("lassie_reboot", "finished", None)
    await until(lambda: stage.events(compute_id), lambda events: finished in events)
    assert await stage.status(compute_id) == "running"
    assert await stage.power(compute_id) == "running"


async def test_crash_while_roost_serves(settings: Settings) -> None:
    async with serving(settings) as stage:
        compute_id = await stage.instance("running", "running")
        await stage.engine().crash(compute_id)
        await stage.roost.enqueue_first_jobs()
        await rebooted(stage, compute_id)


async def test_crash_of_the_host_is_noticed_at_the_next_start(settings: Settings) -> None:
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_ids = [await stage.instance("running", "running") for _ in range(3)]
        await stage.engine().shut_down()
    async with serving(settings) as stage:
        await asyncio.gather(*(rebooted(stage, compute_id) for compute_id in compute_ids))


def test_schedule() -> None:
    assert watch.EVERY_MINUTE in SCHEDULES
    assert watch.EVERY_MINUTE.cron == "* * * * *"
