"""Maintenance and the other work on an instance, where no worker runs any of it."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from roost.core.events.log import Starter
from roost.core.instance_queries import InstanceFacts
from roost.jobs.kinds import JobArgs
from roost.jobs.run import Run, Tools
from roost.resources.compute import watch_jobs
from roost.resources.compute.jobs import SHUTDOWN, start_power
from roost.resources.compute.locks import resource_of
from roost.resources.maintenance import jobs, queries, service
from roost.resources.volumes.jobs import DETACH
from roost.resources.volumes.locks import resource_of as volume_resource
from roost.resources.volumes.steps import AttachmentArgs
from tests.support.client import Answer, Client, Contract, until
from tests.support.lab import running_lab
from tests.support.server import RunningRoost, running_roost, simulated
from tests.support.stage import Stage
from tests.support.volume_stage import VolumeStage

pytestmark = pytest.mark.spec("B account maintenance")


@pytest.fixture
async def running(database_url: str, tmp_path: Path) -> AsyncIterator[RunningRoost]:
    async with running_roost(simulated(tmp_path, database_url, worker=False)) as running:
        yield running


@pytest.fixture
def stage(running: RunningRoost) -> Stage:
    return Stage(running.roost)


async def plan(stage: Stage, compute_id: int) -> int:
    async with stage.roost.store.transaction() as db:
        return await service.schedule(db, compute_id, "reboot", datetime(2026, 1, 1), "a fan")


async def minute(stage: Stage) -> None:
    """What is due, and the watchdog, as a worker would run them each minute."""
    roost = stage.roost
    job = await roost.queue.enqueue(roost.store, watch_jobs.WATCH, watch_jobs.WatchArgs())

    async def report(_percent: int) -> None:
        raise AssertionError("they report no progress")

    tools = Tools(roost.store, roost.clock, roost.services, report)
    await jobs.begin_due(Run(JobArgs(), job, tools))
    await watch_jobs.look(Run(watch_jobs.WatchArgs(), job, tools))


async def queued(stage: Stage, compute_id: int) -> list[str]:
    """The kinds of an instance's unfinished jobs, in their order."""
    rows = await stage.roost.store.fetch(
        "select kind from job where resource = $1 and finished is null order by id",
        resource_of(compute_id),
    )
    return [row["kind"] for row in rows]


async def status(stage: Stage, maintenance_id: int) -> str:
    async with stage.roost.store.transaction() as db:
        row = await queries.lock(db, maintenance_id)
    assert row is not None
    return row.status


async def power(running: RunningRoost, compute_id: int, action: str) -> Answer:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        client = Client(session, contract, running.url).as_user(running.token)
        return await client.send("POST", f"/compute/instances/{compute_id}/{action}", {})


async def test_it_begins_once(stage: Stage) -> None:
    compute_id = await stage.instance("running", "running")
    maintenance_id = await plan(stage, compute_id)
    for _ in range(2):
        await minute(stage)
        assert await queued(stage, compute_id) == ["maintenance_run"]
        assert await status(stage, maintenance_id) == "started"
    assert await stage.events(compute_id) == [("host_reboot", "scheduled", None)]


async def test_it_waits_for_what_is_on_its_way(stage: Stage) -> None:
    compute_id = await stage.instance("running", "running")
    await plan(stage, compute_id)
    row = await stage.row(compute_id)
    async with stage.roost.store.transaction() as db:
        await start_power(Starter(stage.roost.queue, db, row.account_id), SHUTDOWN, row)
    await minute(stage)
    assert await queued(stage, compute_id) == ["compute_shutdown", "maintenance_run"]


@pytest.mark.parametrize("action", ["boot", "reboot", "shutdown"])
async def test_nothing_else_begins_meanwhile(
    running: RunningRoost, stage: Stage, action: str
) -> None:
    compute_id = await stage.instance("running", "running")
    await plan(stage, compute_id)
    await minute(stage)
    answer = await power(running, compute_id, action)
    assert answer.status == 200
    assert await queued(stage, compute_id) == ["maintenance_run", f"compute_{action}"]
    assert await stage.status(compute_id) == "running"


async def test_one_that_fails_does_not_stop_the_later_ones(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = [await stage.instance("running", "running") for _ in range(2)]
    planned = [await plan(stage, compute_id) for compute_id in (broken, other)]
    start_run = jobs.start_run

    async def fail_once(by: Starter, row: queries.Maintenance, facts: InstanceFacts) -> None:
        await start_run(by, row, facts)
        if facts.id == broken:
            raise RuntimeError("broken row")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "start_run", fail_once)
        await minute(stage)
    assert [await queued(stage, one) for one in (broken, other)] == [[], ["maintenance_run"]]
    assert [await status(stage, one) for one in planned] == ["pending", "started"]
    await minute(stage)
    assert await queued(stage, broken) == ["maintenance_run"]


async def test_watchdog_leaves_it_alone(stage: Stage) -> None:
    compute_id = await stage.instance("running", "running")
    await plan(stage, compute_id)
    await minute(stage)
    await stage.engine().stop(compute_id, 0)
    await minute(stage)
    assert await queued(stage, compute_id) == ["maintenance_run"]
    assert await stage.status(compute_id) == "running"


async def test_it_begins_again_when_its_job_is_lost(stage: Stage) -> None:
    """A deletion ends all jobs of its instance, and may fail itself."""
    compute_id = await stage.instance("running", "running")
    maintenance_id = await plan(stage, compute_id)
    await minute(stage)
    async with stage.roost.store.transaction() as db:
        await stage.roost.queue.preempt(db, resource_of(compute_id), "deleted")
    await stage.change(compute_id, "status = 'deleting'")
    await minute(stage)
    assert await queued(stage, compute_id) == []
    await stage.change(compute_id, "status = 'running'")
    await minute(stage)
    assert await queued(stage, compute_id) == ["maintenance_run"]
    assert await status(stage, maintenance_id) == "started"


async def test_what_is_being_deleted_gets_no_maintenance(stage: Stage) -> None:
    compute_id = await stage.instance("deleting", "running")
    with pytest.raises(service.MaintenanceError, match=f"there is no instance {compute_id}"):
        await plan(stage, compute_id)


async def test_it_happens_when_its_time_has_come(tmp_path: Path, database_url: str) -> None:
    async with running_lab(tmp_path, database_url) as lab:
        compute_id = await lab.create()
        await lab.settled(compute_id)
        roost = lab.running.roost
        when = roost.clock.seconds() + timedelta(days=1)
        async with roost.store.transaction() as db:
            await service.schedule(db, compute_id, "reboot", when, "a fan")

        async def maintenance() -> str:
            (row,) = (await lab.api.get("/account/maintenance"))["data"]
            return str(row["status"])

        assert await maintenance() == "pending"
        await lab.put("/clock", {"now": (when + timedelta(minutes=1)).isoformat()})
        await until(maintenance, lambda found: found == "completed")
        await lab.settled(compute_id)


async def test_it_waits_for_a_job_on_a_volume(stage: Stage) -> None:
    """A guest that boots while a volume is taken from it would have it again."""
    compute_id, volumes = await stage.instance("running", "running"), VolumeStage(stage)
    volume_id, maintenance_id = await volumes.volume(), await plan(stage, compute_id)
    await volumes.attach(volume_id, compute_id)
    args, queue = AttachmentArgs(volume_id=volume_id, compute_id=compute_id), stage.roost.queue
    resource = volume_resource(volume_id)
    await queue.enqueue(stage.roost.store, DETACH, args, resource=resource)
    await minute(stage)
    assert (await queued(stage, compute_id), await status(stage, maintenance_id)) == ([], "pending")
    async with stage.roost.store.transaction() as db:
        await queue.preempt(db, resource, "it is over")
    await minute(stage)
    assert await queued(stage, compute_id) == [jobs.RUN.name]
