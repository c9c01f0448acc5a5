"""The power watch: guests that go off or on by themselves."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import open_roost
from roost.core import reconcile
from roost.core.events.log import Starter
from roost.jobs.run import Run, Tools
from roost.jobs.verdicts import Verdict, again, next_step
from roost.resources.compute import watch_jobs
from roost.resources.compute.engine import InstanceState
from roost.resources.compute.jobs import BOOT, SHUTDOWN, start_power
from roost.resources.compute.locks import InstanceArgs, resource_of
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
    roost, args = stage.roost, watch_jobs.WatchArgs()
    job = await roost.queue.enqueue(roost.store, watch_jobs.WATCH, args)

    await watch_jobs.look(Run(args, job, tools(stage)))


def tools(stage: Stage) -> Tools:
    async def report(_percent: int) -> None:
        raise AssertionError("the watch reports no progress")

    return Tools(stage.roost.store, stage.roost.clock, stage.roost.services, report)


async def test_watchdog_boots_again(stage: Stage) -> None:
    compute_id = await stage.instance("running", "offline")
    await look(stage)
    assert await stage.status(compute_id) == "booting"
    assert await stage.events(compute_id) == [("lassie_reboot", "scheduled", None)]
    [(_, reason)] = await stage.reasons(compute_id)
    assert reason == "The instance went off by itself. Try 1 of 5 within 15 minutes."
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
    assert (await stage.reasons(compute_id))[-1][1] == (
        "The instance went off by itself. "
        "Its watchdog has booted it 5 times within 15 minutes and stops."
    )
    await stage.change(compute_id, "status = 'running'")
    stage.roost.clock.advance(timedelta(minutes=16))
    await look(stage)
    assert await stage.status(compute_id) == "booting"


async def test_without_watchdog_it_is_offline(stage: Stage) -> None:
    compute_id = await stage.instance("running", "offline", watchdog=False)
    await look(stage)
    assert await stage.status(compute_id) == "offline"
    assert await stage.events(compute_id) == [("compute_shutdown", "notification", None)]
    assert (await stage.reasons(compute_id))[-1][1] == (
        "The instance went off by itself. Its watchdog is off, so it is not booted again."
    )


async def test_stops_of_the_host_are_no_crashes(stage: Stage) -> None:
    """However many: none counts as a try of the watchdog, before or after."""
    compute_id = await stage.instance("running", "running")
    for _ in range(10):
        await stage.engine().shut_down()
        await look(stage)
        assert await stage.status(compute_id) == "booting"
        await stage.roost.store.execute("delete from job")
        await stage.change(compute_id, "status = 'running'")
        await stage.engine().start(await stage.spec(compute_id))
    why = ("host_reboot", "The host was stopped while the instance ran.")
    assert await stage.reasons(compute_id) == [why] * 10
    await stage.engine().crash(compute_id)
    await look(stage)
    assert (await stage.reasons(compute_id))[-1] == (
        "lassie_reboot",
        "The instance went off by itself. Try 1 of 5 within 15 minutes.",
    )


async def test_without_watchdog_it_stays_off_after_a_stop_of_the_host(stage: Stage) -> None:
    compute_id = await stage.instance("running", "running", watchdog=False)
    await stage.engine().shut_down()
    await look(stage)
    assert await stage.status(compute_id) == "offline"
    assert await stage.reasons(compute_id) == [
        (
            "compute_shutdown",
            "The host was stopped while the instance ran. "
            "Its watchdog is off, so it is not booted again.",
        )
    ]


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
        await start_power(Starter(stage.roost.queue, db, row.account_id), SHUTDOWN, row)
    await stage.change(compute_id, "status = 'running'")
    await look(stage)
    assert await stage.status(compute_id) == "running"
    assert [event[0] for event in await stage.events(compute_id)] == ["compute_shutdown"]


async def test_nothing_is_locked_while_the_engine_is_asked(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes meanwhile, though it be changed back, is left to the next look."""
    compute_id = await stage.instance("running", "offline")
    inspect = stage.engine().inspect

    async def disturb(asked: int) -> InstanceState | None:
        for status in ("offline", "running"):
            async with asyncio.timeout(60):
                await stage.change(compute_id, "status = $2", status)
        return await inspect(asked)

    with monkeypatch.context() as patch:
        patch.setattr(stage.engine(), "inspect", disturb)
        await look(stage)
    assert await stage.status(compute_id) == "running"
    assert await stage.events(compute_id) == []
    await look(stage)
    assert await stage.status(compute_id) == "booting"


async def test_guests_are_looked_at_in_pages(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "PAGE", 2)
    well = await stage.instance("running", "running")
    off = [await stage.instance("running", "offline") for _ in range(4)]
    await look(stage)
    assert [await stage.status(compute_id) for compute_id in off] == ["booting"] * 4
    assert await stage.status(well) == "running"


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
    """When its first jobs have looked: they would boot what is only half set up here."""
    first = {each.kind.name for each in GROUPS.at_start}
    async with running_roost(settings) as running:

        async def looked() -> set[str]:
            rows = await running.roost.store.fetch("select kind from job where status = 'done'")
            return {row["kind"] for row in rows}

        await until(looked, first.issubset)
        yield Stage(running.roost)


async def rebooted(stage: Stage, compute_id: int, action: str = "lassie_reboot") -> None:
    """Wait until it has been booted again."""
    finished = (action, "finished", None)
    await until(lambda: stage.events(compute_id), lambda events: finished in events)
    assert await stage.status(compute_id) == "running"
    assert await stage.power(compute_id) == "running"


async def test_crash_while_roost_serves(settings: Settings) -> None:
    async with serving(settings) as stage:
        compute_id = await stage.instance("running", "running")
        await stage.engine().crash(compute_id)
        await stage.roost.enqueue_first_jobs()
        await rebooted(stage, compute_id)


async def test_a_crash_is_noticed_at_once(settings: Settings) -> None:
    """By what the engine tells, for that instance only; a shutdown that is wanted is none.

    The bound leaves room for a slow machine: the look at all instances comes once a minute.
    """
    async with serving(settings) as stage:
        compute_id, other = [await stage.instance("running", "running") for _ in range(2)]
        jobs = "select count(*) from job where kind = 'compute_power_check'"
        began = time.monotonic()
        await stage.engine().crash(compute_id)
        await until(lambda: stage.status(compute_id), lambda status: status != "running")
        assert time.monotonic() - began < 30
        await rebooted(stage, compute_id)
        assert await stage.roost.store.fetchval(jobs) == 1
        row = await stage.row(other)
        async with stage.roost.store.transaction() as db:
            await start_power(Starter(stage.roost.queue, db, row.account_id), SHUTDOWN, row)
        await until(lambda: stage.status(other), lambda status: status == "offline")
        assert await stage.roost.store.fetchval(jobs) == 1


async def test_a_guest_that_dies_while_it_boots_is_looked_at_afterwards(stage: Stage) -> None:
    compute_id = await stage.instance("booting", "offline")
    row = await stage.row(compute_id)
    roost = stage.roost
    async with roost.store.transaction() as db:
        await start_power(Starter(roost.queue, db, row.account_id), BOOT, row)
        await watch_jobs.went_off(db, roost.queue, compute_id)
        await watch_jobs.went_off(db, roost.queue, compute_id)
    [job_id] = [
        row["id"]
        for row in await roost.store.fetch("select id from job where resource like 'power:%'")
    ]
    args = InstanceArgs(compute_id=compute_id)

    async def check() -> Verdict:
        job = await roost.queue.find(roost.store, job_id)
        assert job is not None
        return await watch_jobs.look_at_one(Run(args, job, tools(stage)))

    assert await check() == again(0.5)
    await roost.store.execute("delete from job where resource = $1", resource_of(compute_id))
    await stage.change(compute_id, "status = 'running'")
    assert await check() == next_step()
    assert await stage.status(compute_id) == "booting"


async def test_crash_of_the_host_is_noticed_at_the_next_start(settings: Settings) -> None:
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_ids = [await stage.instance("running", "running") for _ in range(3)]
        await stage.engine().shut_down()
    async with serving(settings) as stage:
        reboots = (rebooted(stage, compute_id, "host_reboot") for compute_id in compute_ids)
        await asyncio.gather(*reboots)


def test_schedule() -> None:
    assert watch_jobs.EVERY_MINUTE in GROUPS.schedules
    assert watch_jobs.EVERY_MINUTE.cron == "* * * * *"
