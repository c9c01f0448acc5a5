"""Jobs on uploads of images for the harness, over a simulated engine."""

import os
from dataclasses import dataclass
from datetime import timedelta

from roost.core.spool import Spool
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.images import queries, upload_queries, upload_service
from roost.resources.images.locks import resource_of
from roost.resources.images.upload_jobs import DUE, UPLOAD
from roost.resources.images.upload_queries import NewUpload, Pending
from roost.resources.images.upload_rules import WINDOW
from tests.jobs.compute_scenarios import check_event, finish_jobs
from tests.jobs.harness import Scenario
from tests.support.drift import drift
from tests.support.stage import REGION, Stage
from tests.support.uploads import disk_bytes


@dataclass(frozen=True)
class UploadCase:
    """One upload whose data have come."""

    stage: Stage
    number: int
    job_id: int

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        row = await queries.find(self.stage.roost.store, self.number)
        assert row is not None
        assert (row.status, row.size) == ("available", 1)
        await self._check(held=True)

    async def check_failed(self) -> None:
        await check_event(self.stage, self.job_id, "failed")
        assert await queries.find(self.stage.roost.store, self.number) is None
        await self._check(held=False)

    async def _check(self, *, held: bool) -> None:
        assert (self.number in await self.stage.engine().images.list()) == held
        assert self.number not in self.stage.roost.services.get(Spool).numbers()
        assert await drift(self.stage.roost, f"image {self.number}") == []


async def _waiting(stage: Stage, age: timedelta) -> Pending:
    """An upload that was begun so long ago, of which something has come."""
    store, now = stage.roost.store, stage.roost.clock.seconds() - age
    account_id: int = await store.fetchval("select min(id) from account")
    new = NewUpload(
        account_id=account_id,
        created_by="somebody",
        label="label",
        description="",
        region=REGION,
        engine=stage.engine().name,
        capabilities=[],
        now=now,
        hash=os.urandom(32),
        until=now + WINDOW,
    )
    number = await upload_queries.insert(store, new)
    file = stage.roost.services.get(Spool).open(number)
    file.write(disk_bytes("mark"))
    file.finish()
    file.discard()
    return Pending(number, account_id, now, "somebody")


async def begin_upload(environment: Environment) -> UploadCase:
    stage = environment.services.get(Stage)
    pending = await _waiting(stage, timedelta(0))
    assert await upload_service.end(environment.store, environment.queue, pending, None)
    job_id: int = await environment.store.fetchval(
        "select max(id) from job where resource = $1", resource_of(pending.number)
    )
    return UploadCase(stage, pending.number, job_id)


@dataclass(frozen=True)
class DueCase:
    """Nobody has finished one upload, another one has time left."""

    stage: Stage
    late: int
    early: int
    job_id: int

    async def check_done(self) -> None:
        await finish_jobs(self.stage)
        store = self.stage.roost.store
        assert await queries.find(store, self.late) is None
        row = await queries.find(store, self.early)
        assert row is not None
        assert row.status == "pending_upload"
        assert self.late not in self.stage.roost.services.get(Spool).numbers()
        await queries.delete(store, self.early)

    async def check_failed(self) -> None:
        """The next minute's job does what this one could not."""
        await self.stage.roost.queue.enqueue(self.stage.roost.store, DUE, JobArgs())
        await self.check_done()


async def begin_due(environment: Environment) -> DueCase:
    stage = environment.services.get(Stage)
    late = await _waiting(stage, WINDOW + timedelta(seconds=1))
    early = await _waiting(stage, timedelta(hours=1))
    job = await environment.queue.enqueue(environment.store, DUE, JobArgs())
    return DueCase(stage, late.number, early.number, job.id)


SCENARIOS = (
    Scenario(UPLOAD, begin_upload, "image upload"),
    Scenario(DUE, begin_due, "image uploads due"),
)
