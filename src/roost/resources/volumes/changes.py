"""Changes of volumes that are there (spec A volumes)."""

from roost.core.access import require
from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.volumes import attaching, jobs, limits, locks, rules, state_queries
from roost.resources.volumes.args import AttachmentArgs, ResizeArgs, VolumeArgs
from roost.resources.volumes.bodies import AttachVolume
from roost.resources.volumes.entity import VOLUME, resource_of
from roost.resources.volumes.queries import VolumeFacts


async def attach(context: Context, volume_id: int, body: AttachVolume) -> None:
    """Rule 1, and the limit of volumes for each instance."""
    await locks.find(context, volume_id)
    instance = await attaching.lock_instance(context, body.compute_id)
    volume = await locks.lock(context, volume_id)
    turn = await attaching.find_turn(context.db, context.get(JobQueue), volume.id, instance.id)
    attaching.check_free(volume, turn)
    if volume.region != instance.region:
        raise invalid(attaching.ELSEWHERE)
    persists = body.persist_across_boots
    if not persists and instance.status != "running":
        raise invalid("Compute is not running.")
    await attaching.check_room(context.db, instance, persists)
    await state_queries.attach(context.db, volume.id, instance.id, persists, context.clock.now())
    if persists:
        await attaching.name_in_config(context.db, instance, body.config_id, volume.id)
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id, after=turn.after)
    await log.start(context, jobs.ATTACH, args, VOLUME.of(volume), COMPUTE.of(instance))


async def detach(context: Context, volume_id: int) -> None:
    """Done when the guest has let go of it; one that has it mounted keeps it."""
    found = await locks.find(context, volume_id)
    if found.compute_id is not None:
        await require(context, COMPUTE.name, found.compute_id, "read_write")
    volume, instance, turn = await locks.lock_turn(context, volume_id)
    if instance is None:
        raise invalid("Volume is not attached.")
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id, after=turn.after)
    await log.start(context, jobs.DETACH, args, VOLUME.of(volume), COMPUTE.of(instance))


async def resize(context: Context, volume_id: int, size: int) -> None:
    """Rule 2. The new size is shown from now on."""
    volume, _, turn = await locks.lock_turn(context, volume_id)
    if size > rules.MAX_SIZE:
        most = f"{rules.MAX_SIZE} gigabytes"
        raise invalid(f"Storage volumes cannot be resized larger than {most}")
    if size <= volume.size:
        raise invalid("Storage volumes can only be resized up")
    args = ResizeArgs(volume_id=volume.id, size=size, after=turn.after, queued=turn.queued)
    await log.start(context, jobs.RESIZE, args, VOLUME.of(volume))
    await limits.check_resized(context, volume.region)


async def delete(context: Context, volume_id: int) -> None:
    """Rule 5. From now on nobody sees it.

    What else is done with it is not done any further, save that it is detached or copied.
    """
    volume, queue = await locks.lock(context, volume_id), context.get(JobQueue)
    turn = await attaching.find_turn(context.db, queue, volume.id)
    if volume.compute_id is None:
        await queue.preempt(context.db, resource_of(volume.id), "The volume was deleted.")
    elif not await _is_detaching(context, volume):
        raise invalid("Volume must be detached before it can be deleted.")
    await state_queries.set_deleting(context.db, volume.id)
    args = VolumeArgs(volume_id=volume.id, after=turn.after)
    await log.start(context, jobs.DELETE, args, VOLUME.of(volume))


async def _is_detaching(context: Context, volume: VolumeFacts) -> bool:
    found = await context.get(JobQueue).unfinished(context.db, resource_of(volume.id))
    return any(job.kind == jobs.DETACH.name for job in found)
