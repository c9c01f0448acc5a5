"""Changes of volumes that are there. Instances are locked before volumes (spec A, Volumes)."""

from roost.errors import invalid, not_found
from roost.jobs.kinds import JobKind
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.queries import InstanceFacts
from roost.resources.entities.records import Entity
from roost.resources.events import log
from roost.resources.volumes import attaching, jobs, queries, rules, state_queries
from roost.resources.volumes.args import AttachmentArgs, ResizeArgs, VolumeArgs
from roost.resources.volumes.bodies import AttachVolume
from roost.resources.volumes.effects import take_from_instance
from roost.resources.volumes.entity import resource_of
from roost.resources.volumes.jobs import Args
from roost.resources.volumes.queries import VolumeFacts
from roost.web.call import Call


async def attach(call: Call, volume_id: int, body: AttachVolume) -> None:
    """Rule 1, and the limit of volumes for each instance."""
    instance = await attaching.lock_instance(call, body.compute_id)
    volume = await _lock(call, volume_id)
    await attaching.check_free(call.db, call.get(JobQueue), volume)
    if volume.region != instance.region:
        raise invalid(attaching.ELSEWHERE)
    persists = body.persist_across_boots
    if not persists and instance.status != "running":
        raise invalid("Compute is not running.")
    await attaching.check_room(call.db, instance, persists)
    await state_queries.attach(call.db, volume.id, instance.id, persists, call.clock.now())
    if persists:
        await attaching.name_in_config(call.db, instance, body.config_id, volume.id)
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id)
    await _enqueue(call, jobs.ATTACH, args, volume, _entity(instance))


async def detach(call: Call, found: VolumeFacts) -> None:
    """Done when the guest has let go of it; one that has it mounted keeps it."""
    instance = await _lock_instance_of(call, found)
    volume = await _lock(call, found.id)
    if instance is None or volume.compute_id != instance.id:
        raise invalid("Volume is not attached." if volume.compute_id is None else attaching.BUSY)
    await attaching.check_idle(call.db, call.get(JobQueue), volume)
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id)
    await _enqueue(call, jobs.DETACH, args, volume, _entity(instance))


async def resize(call: Call, volume: VolumeFacts, size: int) -> None:
    """Rule 2; the caller holds the volume."""
    await attaching.check_idle(call.db, call.get(JobQueue), volume)
    if size > rules.MAX_SIZE:
        most = f"{rules.MAX_SIZE} gigabytes"
        raise invalid(f"Storage volumes cannot be resized larger than {most}")
    if size <= volume.size:
        raise invalid("Storage volumes can only be resized up")
    await _enqueue(call, jobs.RESIZE, ResizeArgs(volume_id=volume.id, size=size), volume)


async def delete(call: Call, found: VolumeFacts) -> None:
    """Rule 5. From now on nobody sees it; one that is still being made is not made any further."""
    instance = await _lock_instance_of(call, found)
    volume = await _lock(call, found.id)
    if volume.compute_id != (instance and instance.id):
        raise invalid(attaching.BUSY)
    if instance is not None and instance.status == "running":
        raise invalid("Volume must be detached from its running Compute before it can be deleted.")
    queue = call.get(JobQueue)
    if volume.status == "creating":
        reason = "The volume was deleted."
        await queue.preempt(call.db, resource_of(volume.id), reason)
    elif await attaching.is_busy(call.db, queue, volume.id):
        raise invalid(attaching.BUSY)
    if instance is not None:
        await take_from_instance(call.db, volume.id, instance.id, call.clock.now())
    await state_queries.set_deleting(call.db, volume.id)
    await _enqueue(call, jobs.DELETE, VolumeArgs(volume_id=volume.id), volume)


async def _lock(call: Call, volume_id: int) -> VolumeFacts:
    volume = await queries.lock(call.db, call.account_id, volume_id)
    if volume is None:
        raise not_found()
    return volume


async def _lock_instance_of(call: Call, volume: VolumeFacts) -> InstanceFacts | None:
    if volume.compute_id is None:
        return None
    return await attaching.lock_instance(call, volume.compute_id)


def _entity(instance: InstanceFacts) -> Entity:
    return COMPUTE.entity(instance.id, instance.label)


async def _enqueue(
    call: Call,
    kind: JobKind[Args],
    args: Args,
    volume: VolumeFacts,
    secondary: Entity | None = None,
) -> None:
    actor = log.Actor.of(call)
    await jobs.enqueue(call.get(JobQueue), call.db, kind, args, volume.label, actor, secondary)
