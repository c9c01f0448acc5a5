"""Changes of volumes that are there (spec A, Volumes)."""

from roost.errors import invalid
from roost.jobs.kinds import JobKind
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.queries import InstanceFacts
from roost.resources.events import log
from roost.resources.volumes import attaching, jobs, limits, locks, rules, state_queries
from roost.resources.volumes.args import AttachmentArgs, ResizeArgs, VolumeArgs
from roost.resources.volumes.bodies import AttachVolume
from roost.resources.volumes.entity import resource_of
from roost.resources.volumes.jobs import Args
from roost.resources.volumes.queries import VolumeFacts
from roost.web.call import Call
from roost.web.grants import Write, require


async def attach(call: Call, body: AttachVolume) -> None:
    """Rule 1, and the limit of volumes for each instance."""
    await locks.find(call)
    instance = await attaching.lock_instance(call, body.compute_id)
    volume = await locks.lock(call)
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
    await _enqueue(call, jobs.ATTACH, args, volume, instance)


async def detach(call: Call) -> None:
    """Done when the guest has let go of it; one that has it mounted keeps it."""
    found = await locks.find(call)
    if found.compute_id is not None:
        place = {"computeId": found.compute_id}
        await require(Write(COMPUTE.name), call.identity, place, call.db)
    volume, instance = await locks.lock_idle(call)
    if instance is None:
        raise invalid("Volume is not attached.")
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id)
    await _enqueue(call, jobs.DETACH, args, volume, instance)


async def resize(call: Call, size: int) -> None:
    """Rule 2."""
    volume, _ = await locks.lock_idle(call)
    if size > rules.MAX_SIZE:
        most = f"{rules.MAX_SIZE} gigabytes"
        raise invalid(f"Storage volumes cannot be resized larger than {most}")
    if size <= volume.size:
        raise invalid("Storage volumes can only be resized up")
    await state_queries.set_resize_to(call.db, volume.id, size)
    await _enqueue(call, jobs.RESIZE, ResizeArgs(volume_id=volume.id, size=size), volume)
    await limits.check_resized(call, volume.region)


async def delete(call: Call) -> None:
    """Rule 5. From now on nobody sees it; one that is still being made is not made any further."""
    volume = await locks.lock(call)
    if volume.compute_id is not None:
        raise invalid("Volume must be detached before it can be deleted.")
    queue = call.get(JobQueue)
    if volume.status == "creating":
        await queue.preempt(call.db, resource_of(volume.id), "The volume was deleted.")
    elif await attaching.is_busy(call.db, queue, volume.id):
        raise invalid(attaching.BUSY)
    await state_queries.set_deleting(call.db, volume.id)
    await _enqueue(call, jobs.DELETE, VolumeArgs(volume_id=volume.id), volume)


async def _enqueue(
    call: Call,
    kind: JobKind[Args],
    args: Args,
    volume: VolumeFacts,
    instance: InstanceFacts | None = None,
) -> None:
    actor, queue = log.Actor.of(call), call.get(JobQueue)
    secondary = None if instance is None else COMPUTE.entity(instance.id, instance.label)
    await jobs.enqueue(queue, call.db, kind, args, volume.label, actor, secondary)
