"""What compute asks of volumes: see roost.resources.compute.volumes."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from roost.core.events import log
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as computes
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.turns import Turn
from roost.resources.compute.volumes import AttachedVolume, InstanceVolumes
from roost.resources.volumes import attaching, jobs, queries, rules, state_queries
from roost.resources.volumes.args import AttachmentArgs
from roost.resources.volumes.effects import take_from_instance
from roost.resources.volumes.entity import VOLUME
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


def instance_volumes(queue: JobQueue) -> InstanceVolumes:
    """Made by the composition root."""
    attachments = _Attachments(queue)
    return InstanceVolumes(
        attached=attached,
        claim=attachments.claim,
        too_many=too_many,
        resources=resources,
        busy=attachments.busy,
        went_off=went_off,
        release=release,
    )


async def attached(db: Queries, compute_id: int) -> list[AttachedVolume]:
    """Those that the engine holds."""
    return [
        AttachedVolume(volume.id, volume.label, volume.persist_across_boots)
        for volume in await queries.of_instance(db, compute_id)
        if volume.made
    ]


async def resources(db: Queries, compute_id: int) -> list[str]:
    """Under which names jobs work on volumes of the instance, and on clones of these."""
    held = await queries.of_instance(db, compute_id)
    return await attaching.resources(db, *(volume.id for volume in held))


async def too_many(db: Queries, compute_id: int, memory: int) -> str | None:
    """Why memory of so many MB would not do for the volumes of the instance, if so."""
    held, most = len(await queries.of_instance(db, compute_id)), rules.most_volumes(memory)
    if held <= most:
        return None
    return f"Compute has {held} volumes, but the new service plan allows {most}. Detach some first."


async def went_off(db: Queries, compute_id: int, now: datetime) -> None:
    """Detach those that were attached for one boot only."""
    for volume in await queries.of_instance(db, compute_id):
        if not volume.persist_across_boots:
            await _let_go(db, volume, compute_id, now)


async def release(db: Queries, compute_id: int, now: datetime) -> None:
    """Detach all, as the instance is going to be gone (spec A, Volume status)."""
    for volume in await queries.of_instance(db, compute_id):
        await _let_go(db, volume, compute_id, now)


async def _let_go(db: Queries, volume: VolumeFacts, compute_id: int, now: datetime) -> None:
    await take_from_instance(db, volume.id, compute_id, now)
    await _tell(db, "volume_detach", volume, now)


async def _tell(db: Queries, action: str, volume: VolumeFacts, now: datetime) -> None:
    actor = log.Actor(volume.account_id, None)
    await log.add(db, now, actor, action, VOLUME.entity(volume.id, volume.label))


@dataclass(frozen=True, slots=True)
class _Attachments:
    """What also depends on jobs."""

    queue: JobQueue

    async def busy(self, db: Queries, compute_id: int) -> bool:
        """Whether a job works on a volume of the instance, or on a clone of one."""
        names = await resources(db, compute_id)
        return bool(names) and await self.queue.busy(db, *names)

    async def claim(
        self, db: Queries, compute_id: int, volume_ids: Collection[int], now: datetime
    ) -> None:
        """Attach volumes that a config of the instance is to name."""
        instance = await computes.lock_any(db, compute_id)
        assert instance is not None
        for volume_id in sorted(set(volume_ids)):
            volume = await queries.lock(db, instance.account_id, volume_id)
            if volume is None:
                raise invalid(f"Volume {volume_id} does not exist", "devices")
            if not (volume.compute_id == compute_id and volume.persist_across_boots):
                await self._claim(db, instance, volume, now)

    async def _claim(
        self, db: Queries, instance: InstanceFacts, volume: VolumeFacts, now: datetime
    ) -> None:
        attaching.check_takes_volumes(instance)
        if volume.region != instance.region:
            raise invalid(attaching.ELSEWHERE, "devices")
        turn = await attaching.find_turn(db, self.queue, volume.id, instance.id)
        if volume.compute_id != instance.id:
            attaching.check_free(volume, turn)
        await attaching.check_room(db, instance, True, volume.id)
        await state_queries.attach(db, volume.id, instance.id, True, now)
        if volume.compute_id is None:
            await self._plug_or_tell(db, instance, volume, turn, now)

    async def _plug_or_tell(
        self,
        db: Queries,
        instance: InstanceFacts,
        volume: VolumeFacts,
        turn: Turn,
        now: datetime,
    ) -> None:
        """A guest that runs with that config gets the volume now, any other when it boots."""
        if instance.status != "running" and not turn.queued:
            await _tell(db, "volume_attach", volume, now)
            return
        args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id, after=turn.after)
        actor = log.Actor(volume.account_id, None)
        entity = COMPUTE.entity(instance.id, instance.label)
        await jobs.enqueue(self.queue, db, jobs.ATTACH, args, volume.label, actor, entity)
