"""Jobs on volumes for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from roost.core.events import log
from roost.core.instance_queries import InstanceStatus
from roost.jobs import Environment
from roost.jobs.kinds import JobKind
from roost.resources.compute.engine import Power
from roost.resources.volumes import jobs, queries
from roost.resources.volumes.locks import resource_of
from roost.resources.volumes.queries import VOLUME
from roost.resources.volumes.records import VolumeStatus
from roost.resources.volumes.steps import (
    AttachmentArgs,
    CloneArgs,
    CreateArgs,
    ResizeArgs,
    VolumeArgs,
)
from tests.jobs.harness import Scenario
from tests.support.drift import drift
from tests.support.stage import Stage
from tests.support.volume_stage import VolumeStage

Args = TypeVar("Args", bound=VolumeArgs)


@dataclass(frozen=True)
class Outcome:
    """What became of a volume: of its row, and of its data."""

    status: VolumeStatus
    size: int = 20
    attached: bool = False
    plugged: bool = False


GONE = None
FREE = Outcome("active")
LARGER = Outcome("active", size=40)


@dataclass(frozen=True)
class VolumeCase:
    """One job on one volume; a Case of the harness."""

    volumes: VolumeStage
    volume_id: int
    job_id: int
    done: Outcome | None
    failed: tuple[Outcome | None, ...]

    async def check_done(self) -> None:
        await self._check_event("finished")
        assert await self._outcome() == self.done
        await self._check_traces()

    async def check_failed(self) -> None:
        await self._check_event("failed")
        assert await self._outcome() in self.failed
        await self._check_traces()

    async def _outcome(self) -> Outcome | None:
        row, data = await self.volumes.row(self.volume_id), await self.volumes.data(self.volume_id)
        if row is None:
            assert data is None
            return None
        assert data is not None
        assert (row.size, row.made, row.deleting) == (data.size, True, False)
        assert row.source_id is None
        return Outcome(
            row.status, row.size, row.compute_id is not None, data.compute_id is not None
        )

    async def _check_event(self, status: str) -> None:
        event = await self.volumes.stage.roost.store.fetchrow(
            "select e.status, e.percent_complete, e.ended, e.message from job j"
            " join event e on e.id = j.event_id where j.id = $1",
            self.job_id,
        )
        assert event is not None
        assert (event["status"], event["ended"] is not None) == (status, True)
        assert (event["percent_complete"] == 100) == (status == "finished")
        assert bool(event["message"]) == (status == "failed")

    async def _check_traces(self) -> None:
        """Rows, data, guests and slots belong together."""
        assert await drift(self.volumes.stage.roost, f"volume {self.volume_id}") == []
        row = await self.volumes.row(self.volume_id)
        kept = row is not None and row.compute_id is not None and row.persist_across_boots
        assert await self.volumes.slots(self.volume_id) == (1 if kept else 0)


Prepare = Callable[[VolumeStage, Environment], Awaitable[tuple[int, int]]]
"""Sets the scene and enqueues the job: ids of the volume and of the job."""


async def enqueue(environment: Environment, kind: JobKind[Args], args: Args) -> int:
    async with environment.store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        by = log.Starter(environment.queue, db, account_id, "somebody")
        await log.start(by, kind, args, VOLUME.entity(args.volume_id, "label"))
        resource = resource_of(args.volume_id)
        job_id: int = await db.fetchval("select max(id) from job where resource = $1", resource)
    return job_id


async def begin(
    environment: Environment,
    prepare: Prepare,
    done: Outcome | None,
    failed: tuple[Outcome | None, ...],
) -> VolumeCase:
    volumes = VolumeStage(environment.services.get(Stage))
    volume_id, job_id = await prepare(volumes, environment)
    return VolumeCase(volumes, volume_id, job_id, done, failed)


async def create(volumes: VolumeStage, environment: Environment, attached: bool) -> tuple[int, int]:
    volume_id, args = await volumes.volume("creating", made=False), CreateArgs(volume_id=0)
    if attached:
        compute_id = await volumes.stage.instance("running", "running")
        await volumes.attach(volume_id, compute_id, plugged=False)
        args = CreateArgs(volume_id=0, compute_id=compute_id)
    args = args.model_copy(update={"volume_id": volume_id})
    return volume_id, await enqueue(environment, jobs.CREATE, args)


async def clone(volumes: VolumeStage, environment: Environment) -> tuple[int, int]:
    source_id = await volumes.volume()
    volume_id = await volumes.volume("creating", made=False, source_id=source_id)
    args = CloneArgs(volume_id=volume_id, source_id=source_id)
    return volume_id, await enqueue(environment, jobs.CLONE, args)


async def attach(
    volumes: VolumeStage,
    environment: Environment,
    instance: tuple[InstanceStatus, Power],
    persists: bool,
) -> tuple[int, int]:
    volume_id, compute_id = await volumes.volume(), await volumes.stage.instance(*instance)
    await volumes.attach(volume_id, compute_id, persists=persists, plugged=False)
    args = AttachmentArgs(volume_id=volume_id, compute_id=compute_id)
    return volume_id, await enqueue(environment, jobs.ATTACH, args)


async def detach(
    volumes: VolumeStage,
    environment: Environment,
    instance: tuple[InstanceStatus, Power],
    persists: bool,
) -> tuple[int, int]:
    volume_id, compute_id = await volumes.volume(), await volumes.stage.instance(*instance)
    await volumes.attach(volume_id, compute_id, persists=persists)
    args = AttachmentArgs(volume_id=volume_id, compute_id=compute_id)
    return volume_id, await enqueue(environment, jobs.DETACH, args)


async def resize(volumes: VolumeStage, environment: Environment, queued: bool) -> tuple[int, int]:
    volume_id = await volumes.volume()
    args = ResizeArgs(volume_id=volume_id, size=40, queued=queued)
    return volume_id, await enqueue(environment, jobs.RESIZE, args)


async def delete(volumes: VolumeStage, environment: Environment, made: bool) -> tuple[int, int]:
    volume_id = await volumes.volume("active" if made else "creating", made=made)
    await queries.set_deleting(environment.store, volume_id)
    return volume_id, await enqueue(environment, jobs.DELETE, VolumeArgs(volume_id=volume_id))


def _scenario(
    title: str,
    kind: JobKind[Args],
    prepare: Prepare,
    done: Outcome | None,
    *failed: Outcome | None,
) -> Scenario:
    return Scenario(kind, partial(begin, prepare=prepare, done=done, failed=failed), title)


_ON: tuple[InstanceStatus, Power] = ("running", "running")
_OFF: tuple[InstanceStatus, Power] = ("offline", "offline")
_HELD, _IN_USE = Outcome("active", attached=True), Outcome("active", attached=True, plugged=True)

SCENARIOS = (
    _scenario("create a volume", jobs.CREATE, partial(create, attached=False), FREE, GONE),
    _scenario("create it attached", jobs.CREATE, partial(create, attached=True), _IN_USE, GONE),
    _scenario("clone a volume", jobs.CLONE, clone, FREE, GONE),
    _scenario("attach", jobs.ATTACH, partial(attach, instance=_ON, persists=True), _IN_USE, FREE),
    _scenario(
        "attach for one boot",
        jobs.ATTACH,
        partial(attach, instance=_ON, persists=False),
        _IN_USE,
        FREE,
    ),
    _scenario(
        "attach what is off",
        jobs.ATTACH,
        partial(attach, instance=_OFF, persists=True),
        _HELD,
        FREE,
    ),
    _scenario("detach", jobs.DETACH, partial(detach, instance=_ON, persists=True), FREE, _IN_USE),
    _scenario(
        "detach what is off",
        jobs.DETACH,
        partial(detach, instance=_OFF, persists=True),
        FREE,
        _HELD,
    ),
    _scenario("resize", jobs.RESIZE, partial(resize, queued=False), LARGER, FREE, LARGER),
    _scenario(
        "resize in its turn", jobs.RESIZE, partial(resize, queued=True), LARGER, FREE, LARGER
    ),
    _scenario("delete a volume", jobs.DELETE, partial(delete, made=True), GONE, FREE, GONE),
    _scenario("delete what was not made", jobs.DELETE, partial(delete, made=False), GONE, GONE),
)
