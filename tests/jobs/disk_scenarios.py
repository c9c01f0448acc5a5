"""Jobs on disks for the harness, over a simulated engine."""

from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from roost.core.events import log
from roost.jobs import Environment, JobKind
from roost.resources.compute.disks import jobs, queries
from roost.resources.compute.disks.jobs import CloneArgs, DiskArgs, ResizeArgs
from roost.resources.compute.disks.queries import DiskFacts, NewDisk, disk_entity
from roost.resources.compute.disks.records import DiskStatus
from roost.resources.compute.entity import COMPUTE
from tests.jobs.compute_scenarios import check_event, check_traces, newest_job
from tests.jobs.harness import Scenario
from tests.support.stage import Stage

A = TypeVar("A", bound=DiskArgs)

Outcome = tuple[DiskStatus, int, int | None] | None
"""Status and size of the row, and the size of what the engine holds; None: no row, nothing held."""


@dataclass(frozen=True)
class DiskCase:
    """One job on one disk; a Case of the harness."""

    stage: Stage
    compute_id: int
    disk_id: int
    job_id: int
    done: Outcome
    failed: tuple[Outcome, ...]
    content: str | None = None
    """What is on the disk in the end."""

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        assert await self._outcome() == self.done
        if self.content is not None:
            engine = self.stage.engine().disks
            assert await engine.read(self.compute_id, self.disk_id) == self.content
        await check_traces(self.stage, self.compute_id)

    async def check_failed(self) -> None:
        await check_event(self.stage, self.job_id, "failed")
        assert await self._outcome() in self.failed
        await check_traces(self.stage, self.compute_id)

    async def _outcome(self) -> Outcome:
        row = await queries.find(self.stage.roost.store, self.compute_id, self.disk_id)
        state = await self.stage.engine().disks.inspect(self.compute_id, self.disk_id)
        if row is None:
            assert state is None
            return None
        return row.status, row.size, None if state is None else state.size


async def _enqueue(
    environment: Environment, stage: Stage, kind: JobKind[A], args: A, disk: DiskFacts
) -> int:
    instance = await stage.row(args.compute_id)
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, instance.account_id)
        second = disk_entity(instance.id, disk.id, disk.label)
        await log.start(by, kind, args, COMPUTE.of(instance), second)
        return await newest_job(db, instance.id)


async def _new_disk(stage: Stage, compute_id: int, label: str) -> DiskFacts:
    new = NewDisk(compute_id=compute_id, label=label, size=512, filesystem="ext3")
    return await queries.insert(stage.roost.store, new, stage.roost.clock.now())


async def begin_create(environment: Environment) -> DiskCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("running", "running")
    disk = await _new_disk(stage, compute_id, "new")
    args = DiskArgs(compute_id=compute_id, disk_id=disk.id)
    job_id = await _enqueue(environment, stage, jobs.CREATE, args, disk)
    done: Outcome = ("ready", 512, 512)
    return DiskCase(stage, compute_id, disk.id, job_id, done, (None,), "empty ext3")


async def begin_delete(environment: Environment) -> DiskCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("offline", "offline")
    disk = (await stage.disks(compute_id))[1]
    args = DiskArgs(compute_id=compute_id, disk_id=disk.id)
    job_id = await _enqueue(environment, stage, jobs.DELETE, args, disk)
    failed: tuple[Outcome, ...] = (("ready", 512, 512), ("not ready", 512, None))
    return DiskCase(stage, compute_id, disk.id, job_id, None, failed)


async def begin_resize(environment: Environment, size: int) -> DiskCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("offline", "offline")
    disk = (await stage.disks(compute_id))[1]
    args = ResizeArgs(compute_id=compute_id, disk_id=disk.id, size=size, former=disk.size)
    job_id = await _enqueue(environment, stage, jobs.RESIZE, args, disk)
    done: Outcome = ("ready", size, size)
    failed: Outcome = ("ready", 512, 512)
    return DiskCase(stage, compute_id, disk.id, job_id, done, (failed,), "empty swap")


async def begin_duplicate(environment: Environment) -> DiskCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("running", "running")
    source = (await stage.disks(compute_id))[1]
    await stage.engine().disks.write(compute_id, source.id, "pages", 8)
    disk = await _new_disk(stage, compute_id, "copy")
    args = CloneArgs(compute_id=compute_id, disk_id=disk.id, source_id=source.id)
    job_id = await _enqueue(environment, stage, jobs.DUPLICATE, args, disk)
    return DiskCase(stage, compute_id, disk.id, job_id, ("ready", 512, 512), (None,), "pages")


SCENARIOS = (
    Scenario(jobs.CREATE, begin_create, "disk create"),
    Scenario(jobs.DELETE, begin_delete, "disk delete"),
    Scenario(jobs.RESIZE, partial(begin_resize, size=600), "disk grow"),
    Scenario(jobs.RESIZE, partial(begin_resize, size=100), "disk shrink"),
    Scenario(jobs.DUPLICATE, begin_duplicate, "disk duplicate"),
)
