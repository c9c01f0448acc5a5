"""Jobs on private images for the harness, over a simulated engine."""

from dataclasses import dataclass

from roost.core.events import log
from roost.jobs import Environment
from roost.resources.compute.entity import COMPUTE
from roost.resources.images import jobs, locks, queries
from roost.resources.images.jobs import CaptureArgs, ImageArgs
from roost.resources.images.queries import NewImage
from tests.jobs.compute_scenarios import check_event, finish_jobs, newest_job
from tests.jobs.harness import Scenario
from tests.support.drift import drift
from tests.support.stage import REGION, Stage


@dataclass(frozen=True)
class ImageCase:
    """One job on one image; a Case of the harness."""

    stage: Stage
    number: int
    job_id: int
    deletes: bool

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        await self._check(kept=(not self.deletes,))

    async def check_failed(self) -> None:
        """A deletion that has got through leaves nothing to show."""
        await check_event(self.stage, self.job_id, "failed")
        await self._check(kept=(True, False) if self.deletes else (False,))

    async def _check(self, kept: tuple[bool, ...]) -> None:
        row = await queries.find(self.stage.roost.store, self.number)
        held = self.number in await self.stage.engine().images.list()
        assert held in kept
        assert (row is not None) == held
        if row is not None:
            assert (row.status, row.deleting, row.compute_id) == ("available", False, None)
            assert row.size > 0
        assert await drift(self.stage.roost, f"image {self.number}") == []


async def _enqueue_capture(stage: Stage) -> tuple[int, int]:
    """The image's number and the job."""
    compute_id = await stage.instance("running", "running")
    instance, disk, roost = (
        await stage.row(compute_id),
        (await stage.disks(compute_id))[0],
        stage.roost,
    )
    async with roost.store.transaction() as db:
        new = NewImage(
            account_id=instance.account_id,
            created_by="somebody",
            label="label",
            description="",
            region=REGION,
            engine=stage.engine().name,
            compute_id=compute_id,
            capabilities=[],
            now=roost.clock.seconds(),
        )
        number = await queries.insert(db, new)
        by = log.Starter(roost.queue, db, instance.account_id, "somebody")
        args = CaptureArgs(compute_id=compute_id, disk_id=disk.id, number=number, cloud_init=False)
        await log.start(by, jobs.CAPTURE, args, COMPUTE.of(instance))
        return number, await newest_job(db, compute_id)


async def begin_capture(environment: Environment) -> ImageCase:
    stage = environment.services.get(Stage)
    number, job_id = await _enqueue_capture(stage)
    return ImageCase(stage, number, job_id, deletes=False)


async def begin_delete(environment: Environment) -> ImageCase:
    stage = environment.services.get(Stage)
    number, _ = await _enqueue_capture(stage)
    await finish_jobs(stage)
    async with environment.store.transaction() as db:
        row = await queries.lock(db, number)
        assert row is not None
        await queries.set_deleting(db, number, environment.queue.clock.now(), deleting=True)
        by = log.Starter(environment.queue, db, row.account_id, "somebody")
        await log.start(by, jobs.DELETE, ImageArgs(number=number), locks.entity_of(row))
        job_id: int = await db.fetchval(
            "select max(id) from job where resource = $1", locks.resource_of(number)
        )
    return ImageCase(stage, number, job_id, deletes=True)


SCENARIOS = (
    Scenario(jobs.CAPTURE, begin_capture, "image of a disk"),
    Scenario(jobs.DELETE, begin_delete, "image delete"),
)
