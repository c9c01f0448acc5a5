"""Jobs on images of deleted instances for the harness, over a simulated engine."""

from dataclasses import dataclass
from datetime import timedelta

from roost.core.events import log
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.compute.deletion_steps import Kept
from roost.resources.compute.jobs import DELETE, start_delete
from roost.resources.images import kept_service, queries
from roost.resources.images.kept_jobs import EXPIRE, KEEP
from roost.resources.images.locks import resource_of
from roost.resources.images.queries import NewImage
from tests.jobs.compute_scenarios import check_event, check_traces, finish_jobs, newest_job
from tests.jobs.harness import Scenario
from tests.support.drift import drift
from tests.support.stage import REGION, Stage


@dataclass(frozen=True)
class KeptCase:
    """An instance that goes, and the image that is kept of it."""

    stage: Stage
    compute_id: int
    number: int
    job_id: int

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        await finish_jobs(self.stage)
        row = await queries.find(self.stage.roost.store, self.number)
        assert row is not None
        assert (row.status, row.compute_id, row.deleting) == ("available", None, False)
        assert await self.stage.status(self.compute_id) is None
        await self._check(held=True)

    async def check_failed(self) -> None:
        await check_event(self.stage, self.job_id, "failed")
        assert await queries.find(self.stage.roost.store, self.number) is None
        await self._check(held=False)

    async def _check(self, *, held: bool) -> None:
        images = self.stage.engine().images
        assert (self.number in await images.list()) == held
        assert self.number not in await images.aside()
        assert await drift(self.stage.roost, f"image {self.number}") == []
        await check_traces(self.stage, self.compute_id)


async def _insert(stage: Stage, compute_id: int, age: timedelta = timedelta(0)) -> int:
    """An image that is being made since then, and expires after a week."""
    roost, row = stage.roost, await stage.row(compute_id)
    now = roost.clock.seconds() - age
    new = NewImage(
        account_id=row.account_id,
        created_by="somebody",
        label="label",
        description="",
        region=REGION,
        engine=stage.engine().name,
        compute_id=compute_id,
        capabilities=[],
        now=now,
        type="automatic",
        expiry=now + timedelta(days=7),
    )
    return await queries.insert(roost.store, new)


async def begin_delete(environment: Environment) -> KeptCase:
    """Its guest runs."""
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("deleting", "running")
    row, disk = await stage.row(compute_id), (await stage.disks(compute_id))[0]
    number = await _insert(stage, compute_id)
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, row.account_id, "somebody")
        await start_delete(by, row, Kept(disk_id=disk.id, number=number))
        job_id = await newest_job(db, compute_id)
    return KeptCase(stage, compute_id, number, job_id)


async def _without_instance(stage: Stage, age: timedelta = timedelta(0)) -> tuple[int, int]:
    """The ids of an instance that is gone, and of the image whose job is enqueued."""
    roost, compute_id = stage.roost, await stage.instance("offline", "offline")
    row, disk = await stage.row(compute_id), (await stage.disks(compute_id))[0]
    number = await _insert(stage, compute_id, age)
    await kept_service.set_aside(roost.services, row, disk.spec, number)
    async with roost.store.transaction() as db:
        await start_delete(log.Starter(roost.queue, db, row.account_id), row)
    await finish_jobs(stage)
    async with roost.store.transaction() as db:
        await kept_service.start(db, roost.services, row, number)
    return compute_id, number


async def begin_keep(environment: Environment) -> KeptCase:
    stage = environment.services.get(Stage)
    compute_id, number = await _without_instance(stage)
    job_id: int = await environment.store.fetchval(
        "select max(id) from job where resource = $1", resource_of(number)
    )
    return KeptCase(stage, compute_id, number, job_id)


@dataclass(frozen=True)
class ExpiryCase:
    """The time of one image is up, another one has a day left."""

    stage: Stage
    late: int
    early: int
    job_id: int

    async def check_done(self) -> None:
        await finish_jobs(self.stage)
        store, images = self.stage.roost.store, self.stage.engine().images
        assert await queries.find(store, self.late) is None
        assert self.late not in await images.list()
        row = await queries.find(store, self.early)
        assert row is not None
        assert (row.status, row.deleting) == ("available", False)
        await images.delete(self.early)
        await queries.delete(store, self.early)

    async def check_failed(self) -> None:
        """The next one does what this one could not."""
        await self.stage.roost.queue.enqueue(self.stage.roost.store, EXPIRE, JobArgs())
        await self.check_done()


async def begin_expire(environment: Environment) -> ExpiryCase:
    stage = environment.services.get(Stage)
    _, late = await _without_instance(stage, timedelta(days=7, seconds=1))
    _, early = await _without_instance(stage, timedelta(days=6))
    await finish_jobs(stage)
    job = await environment.queue.enqueue(environment.store, EXPIRE, JobArgs())
    return ExpiryCase(stage, late, early, job.id)


SCENARIOS = (
    Scenario(DELETE, begin_delete, "delete and keep the disk"),
    Scenario(KEEP, begin_keep, "image of a deleted instance"),
    Scenario(EXPIRE, begin_expire, "images that expire"),
)
