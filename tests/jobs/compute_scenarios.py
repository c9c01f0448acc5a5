"""Jobs on compute instances for the harness, over a simulated engine."""

import asyncio
from dataclasses import dataclass
from functools import partial

from roost.core.events import log
from roost.core.hosts.queries import measure, serving
from roost.core.instance_queries import InstanceStatus
from roost.core.turns import FIRST, Turn
from roost.jobs import Environment, JobKind, Worker, WorkerSettings
from roost.resources.compute.engine import Power
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.jobs import (
    BOOT,
    CAPACITY,
    CREATE,
    DELETE,
    REBOOT,
    SHUTDOWN,
    CapacityArgs,
    start_delete,
    start_power,
)
from roost.resources.compute.locks import CreateArgs, InstanceArgs, resource_of
from roost.resources.compute.watch_jobs import CHECK, WATCH, WatchArgs, went_off
from roost.store import Queries
from tests.jobs.harness import Scenario
from tests.support.client import until
from tests.support.drift import drift
from tests.support.stage import REGION, Stage

Outcome = tuple[InstanceStatus | None, Power | None]
"""An instance's status and its guest's power; None for what does not exist."""

_UNFINISHED = "select count(*) from job where resource = $1 and finished is null"
_OPEN_EVENTS = """
    select count(*) from event
    where entity_id = $1 and status not in ('finished', 'failed', 'notification')
"""
_HELD = "select count(*) from ip_address where compute_id = $1"


@dataclass(frozen=True)
class InstanceCase:
    """One job on one instance; a Case of the harness."""

    stage: Stage
    compute_id: int
    job_id: int
    done: Outcome
    failed: tuple[Outcome, ...]

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        await finish_jobs(self.stage)
        assert await self._outcome() == self.done
        await check_traces(self.stage, self.compute_id)

    async def check_failed(self) -> None:
        resource = resource_of(self.compute_id)
        assert await self.stage.roost.store.fetchval(_UNFINISHED, resource) == 0
        await check_event(self.stage, self.job_id, "failed")
        assert await self._outcome() in self.failed
        await check_traces(self.stage, self.compute_id)

    async def _outcome(self) -> Outcome:
        return await self.stage.status(self.compute_id), await self.stage.power(self.compute_id)


async def check_event(stage: Stage, job_id: int, status: str) -> None:
    """The job's event says how it ended."""
    event = await stage.roost.store.fetchrow(
        "select e.status, e.percent_complete, e.ended from job j"
        " join event e on e.id = j.event_id where j.id = $1",
        job_id,
    )
    assert event is not None
    assert event["status"] == status
    assert event["ended"] is not None
    assert (event["percent_complete"] == 100) == (status == "finished")


async def check_traces(stage: Stage, compute_id: int) -> None:
    """Rows, guests, disks and addresses belong together, and nothing goes on."""
    store = stage.roost.store
    assert await drift(stage.roost, f"instance {compute_id}") == []
    exists = await stage.status(compute_id) is not None
    assert await store.fetchval(_HELD, compute_id) == (1 if exists else 0)
    assert await store.fetchval(_OPEN_EVENTS, str(compute_id)) == 0


async def finish_jobs(stage: Stage) -> None:
    """Run what the job under test has enqueued.

    Without schedules: their jobs would meet the faults that are planned for others.
    """
    roost = stage.roost
    worker = Worker(
        Environment(
            store=roost.store,
            queue=roost.queue,
            services=roost.services,
            settings=WorkerSettings(),
            faults=roost.faults,
            metrics=roost.job_metrics,
        )
    )
    task = asyncio.create_task(worker.run())
    unfinished = "select count(*) from job where finished is null"
    await until(lambda: stage.roost.store.fetchval(unfinished), lambda count: count == 0)
    worker.stop()
    await task


async def newest_job(db: Queries, compute_id: int) -> int:
    job_id: int = await db.fetchval(
        "select max(id) from job where resource = $1", resource_of(compute_id)
    )
    return job_id


async def begin_create(environment: Environment, booted: bool) -> InstanceCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("provisioning", made=False)
    row = await stage.row(compute_id)
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, row.account_id, "somebody")
        args = CreateArgs(compute_id=compute_id, booted=booted)
        await log.start(by, CREATE, args, COMPUTE.of(row))
        job_id = await newest_job(db, compute_id)
    done: Outcome = ("running", "running") if booted else ("offline", "offline")
    return InstanceCase(stage, compute_id, job_id, done, (("offline", None),))


async def begin_power(
    environment: Environment,
    kind: JobKind[InstanceArgs],
    before: tuple[InstanceStatus, Power | None],
    done: Outcome,
    failed: tuple[Outcome, ...],
    turn: Turn = FIRST,
) -> InstanceCase:
    stage = environment.services.get(Stage)
    status, power = before
    compute_id = await stage.instance(status, power, made=power is not None)
    row = await stage.row(compute_id)
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, row.account_id, "somebody")
        await start_power(by, kind, row, turn=turn)
        job_id = await newest_job(db, row.id)
    return InstanceCase(stage, compute_id, job_id, done, failed)


async def begin_delete(environment: Environment, power: Power | None) -> InstanceCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("deleting", power, made=power is not None)
    row = await stage.row(compute_id)
    async with environment.store.transaction() as db:
        await start_delete(log.Starter(environment.queue, db, row.account_id, "somebody"), row)
        job_id = await newest_job(db, row.id)
    failed: tuple[Outcome, ...] = (_UNMADE,) if power is None else (_OFF, _UNMADE)
    return InstanceCase(stage, compute_id, job_id, (None, None), failed)


@dataclass(frozen=True)
class WatchCase:
    """A guest that does what its row says, and one that went off; its watchdog boots it again."""

    stage: Stage
    well: int
    off: int
    job_id: int

    async def check_done(self) -> None:
        await finish_jobs(self.stage)
        await self._check_both()

    async def check_failed(self) -> None:
        """The next minute's watch does what this one could not."""
        await self.stage.roost.queue.enqueue(self.stage.roost.store, WATCH, WatchArgs())
        await finish_jobs(self.stage)
        await self._check_both()

    async def _check_both(self) -> None:
        for compute_id in (self.well, self.off):
            assert await self.stage.status(compute_id) == "running"
            assert await self.stage.power(compute_id) == "running"
        assert await self.stage.events(self.well) == []
        assert await self.stage.events(self.off) == [("lassie_reboot", "finished", None)]


async def begin_watch(environment: Environment) -> WatchCase:
    stage = environment.services.get(Stage)
    well = await stage.instance("running", "running")
    off = await stage.instance("running", "offline")
    job = await environment.queue.enqueue(environment.store, WATCH, WatchArgs())
    return WatchCase(stage, well, off, job.id)


@dataclass(frozen=True)
class CapacityCase:
    """What was known of a region's host is what its engine says: there is no end of it."""

    environment: Environment
    job_id: int

    async def check_done(self) -> None:
        assert [each.figures for each in await serving(self.environment.store, REGION)] == [None]

    async def check_failed(self) -> None:
        """The next minute's job does what this one could not."""
        [room] = await serving(self.environment.store, REGION)
        assert room.figures in (None, (1, 2, 1))
        await self.environment.store.execute("delete from region_capacity")


async def begin_capacity(environment: Environment) -> CapacityCase:
    now = environment.queue.clock.now()
    await measure(environment.store, REGION, (1, 2, 1), now)
    job = await environment.queue.enqueue(environment.store, CAPACITY, CapacityArgs())
    return CapacityCase(environment, job.id)


async def begin_check(environment: Environment) -> WatchCase:
    """An engine has told of one that went off."""
    stage = environment.services.get(Stage)
    well = await stage.instance("running", "running")
    off = await stage.instance("running", "offline")
    async with environment.store.transaction() as db:
        await went_off(db, environment.queue, off)
        job_id = await db.fetchval("select max(id) from job")
    return WatchCase(stage, well, off, job_id)


def _power(
    title: str,
    kind: JobKind[InstanceArgs],
    before: tuple[InstanceStatus, Power | None],
    done: Outcome,
    *failed: Outcome,
    turn: Turn = FIRST,
) -> Scenario:
    begin = partial(begin_power, kind=kind, before=before, done=done, failed=failed, turn=turn)
    return Scenario(kind, begin, title)


_ON: tuple[InstanceStatus, Power] = ("running", "running")
_OFF: tuple[InstanceStatus, Power] = ("offline", "offline")
_UNMADE: tuple[InstanceStatus, None] = ("offline", None)

SCENARIOS = (
    Scenario(CREATE, partial(begin_create, booted=False), "create"),
    Scenario(CREATE, partial(begin_create, booted=True), "create and boot"),
    _power("boot", BOOT, _OFF, _ON, _OFF),
    _power("boot what was not made", BOOT, _UNMADE, _ON, _OFF, _UNMADE),
    _power("shut down", SHUTDOWN, _ON, _OFF, _ON),
    _power("reboot", REBOOT, _ON, _ON, _OFF, _ON),
    _power("boot in its turn", BOOT, _OFF, _ON, _OFF, turn=Turn(queued=True)),
    _power("shut down in its turn", SHUTDOWN, _ON, _OFF, _ON, turn=Turn(queued=True)),
    _power("reboot in its turn", REBOOT, _ON, _ON, _OFF, _ON, turn=Turn(queued=True)),
    Scenario(DELETE, partial(begin_delete, power="running"), "delete"),
    Scenario(DELETE, partial(begin_delete, power=None), "delete what was not made"),
    Scenario(WATCH, begin_watch, "watch"),
    Scenario(CAPACITY, begin_capacity, "capacity"),
    Scenario(CHECK, begin_check, "look at one"),
)
