"""Maintenance for the harness: doing it to an instance, and finding what is due."""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from roost.core.events.log import Starter
from roost.core.instance_queries import InstanceStatus
from roost.jobs import Environment, JobArgs
from roost.resources.compute.engine import Power
from roost.resources.compute.locks import resource_of
from roost.resources.maintenance import queries
from roost.resources.maintenance.jobs import DUE, RUN, start_run
from roost.resources.maintenance.records import MaintenanceType
from roost.resources.maintenance.service import schedule
from tests.jobs.compute_scenarios import InstanceCase, finish_jobs
from tests.jobs.harness import Scenario
from tests.support.stage import Stage

_ON: tuple[InstanceStatus, Power] = ("running", "running")
_OFF: tuple[InstanceStatus, Power] = ("offline", "offline")
_DUE, _LATER = timedelta(minutes=-1), timedelta(days=1)


async def _planned(
    environment: Environment,
    compute_id: int,
    after: timedelta = _DUE,
    type_: MaintenanceType = "reboot",
) -> int:
    when = environment.queue.clock.seconds() + after
    async with environment.store.transaction() as db:
        return await schedule(db, compute_id, type_, when, "a fan is loud")


async def _status(stage: Stage, maintenance_id: int) -> str:
    async with stage.roost.store.transaction() as db:
        row = await queries.lock(db, maintenance_id)
    assert row is not None
    return row.status


@dataclass(frozen=True)
class RunCase(InstanceCase):
    """Maintenance of one instance."""

    maintenance_id: int

    async def check_done(self) -> None:
        await super().check_done()
        assert await _status(self.stage, self.maintenance_id) == "completed"

    async def check_failed(self) -> None:
        await super().check_failed()
        assert await _status(self.stage, self.maintenance_id) == "canceled"


async def begin_run(environment: Environment, type_: MaintenanceType) -> RunCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance(*_ON)
    maintenance_id = await _planned(environment, compute_id, type_=type_)
    async with environment.store.transaction() as db:
        facts, row = await stage.row(compute_id), await queries.lock(db, maintenance_id)
        assert row is not None
        await start_run(Starter(environment.queue, db, row.account_id), row, facts)
        newest = "select max(id) from job where resource = $1"
        job_id = await db.fetchval(newest, resource_of(compute_id))
    return RunCase(stage, compute_id, job_id, _ON, (_ON, _OFF), maintenance_id)


@dataclass(frozen=True)
class DueCase:
    """Maintenance of two instances is due, of a third one it is not."""

    stage: Stage
    on: tuple[int, int]
    off: tuple[int, int]
    later: tuple[int, int]
    """Instance and maintenance."""
    job_id: int

    async def check_done(self) -> None:
        await finish_jobs(self.stage)
        assert await self.stage.events(self.on[0]) == [("host_reboot", "finished", None)]
        assert await self.stage.events(self.off[0]) == []
        assert await self.stage.events(self.later[0]) == []
        for (compute_id, maintenance_id), status, outcome in (
            (self.on, "completed", _ON),
            (self.off, "completed", _OFF),
            (self.later, "pending", _ON),
        ):
            assert await _status(self.stage, maintenance_id) == status
            found = await self.stage.status(compute_id), await self.stage.power(compute_id)
            assert found == outcome

    async def check_failed(self) -> None:
        """The next minute's job does what this one could not."""
        await self.stage.roost.queue.enqueue(self.stage.roost.store, DUE, JobArgs())
        await self.check_done()


async def begin_due(environment: Environment) -> DueCase:
    stage = environment.services.get(Stage)
    on, off, later = [await stage.instance(*state) for state in (_ON, _OFF, _ON)]
    planned = [
        (compute_id, await _planned(environment, compute_id, after))
        for compute_id, after in ((on, _DUE), (off, _DUE), (later, _LATER))
    ]
    job = await environment.queue.enqueue(environment.store, DUE, JobArgs())
    return DueCase(stage, planned[0], planned[1], planned[2], job.id)


SCENARIOS = (
    Scenario(RUN, partial(begin_run, type_="reboot"), "host reboot"),
    Scenario(RUN, partial(begin_run, type_="cold_migration"), "cold migration"),
    Scenario(DUE, begin_due, "maintenance due"),
)
