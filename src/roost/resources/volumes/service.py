"""Making volumes, and changes of those that are there (spec A volumes)."""

from dataclasses import dataclass
from functools import partial

from roost.core import instance_queries
from roost.core.access import give_to_creator, require
from roost.core.billing.ledger import begin, record
from roost.core.context import Context
from roost.core.events import log
from roost.core.hosts import queries as hosts
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.capacity import choose_host, has_room
from roost.core.limits.host import Promised
from roost.core.planes import Engines
from roost.core.turns import FIRST, Turn
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.configs.service import choose_config
from roost.resources.compute.entity import COMPUTE
from roost.resources.volumes import jobs, limits, locks, queries, rules
from roost.resources.volumes.bodies import AttachVolume, CreateVolume
from roost.resources.volumes.bring_jobs import BRING, BringArgs
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.resources.volumes.locks import resource_of
from roost.resources.volumes.queries import VOLUME, NewVolume, VolumeFacts
from roost.resources.volumes.release_service import take_from_deleted
from roost.resources.volumes.steps import (
    AttachmentArgs,
    CloneArgs,
    CreateArgs,
    ResizeArgs,
    VolumeArgs,
)

LABEL_TAKEN = "Label must be unique among your volumes"


async def create(context: Context, body: CreateVolume) -> str:
    """The record of a new volume, unattached or attached."""
    target = await _target(context, body)
    instance, turn = (None, FIRST) if target is None else (target.instance, target.turn)
    region = body.region if instance is None else instance.region
    assert region is not None
    host = await _host(context, region, body.size) if instance is None else instance.host
    new = NewVolume(
        account_id=context.account_id,
        label=body.label,
        region=region,
        engine=context.get(Engines).of(VOLUME_PLANE, region).name,
        host=host,
        size=body.size,
        tags=body.tags,
        compute_id=body.compute_id,
        now=context.clock.seconds(),
    )
    volume_id, record = await _insert(context, new)
    secondary = None
    if target is not None:
        await locks.name_in_config(context.db, target.config_id, volume_id)
        secondary = COMPUTE.of(target.instance)
    args = CreateArgs(volume_id=volume_id, compute_id=body.compute_id, after=turn.after)
    entity = VOLUME.entity(volume_id, body.label)
    await log.start(context, jobs.CREATE, args, entity, secondary)
    await limits.check_new(context, volume_id, new, stays=instance is not None)
    return record


async def _host(context: Context, region: str, size: int) -> str:
    """Where a volume is made that no instance has: where most of the account's instances are, to
    which it can be attached without being brought to another host."""
    needs = Promised(0, 1024 * size)
    near = partial(instance_queries.hosts_of_account, context.db, context.account_id, region)
    return await choose_host(context, region, needs, "size", limits.FULL, near=near)


@dataclass(frozen=True, slots=True)
class _Target:
    """What a new volume is to be attached to, and behind which jobs there."""

    instance: InstanceFacts
    config_id: int
    turn: Turn


async def _target(context: Context, body: CreateVolume) -> _Target | None:
    """Fields are refused before limits."""
    if body.compute_id is None:
        return None
    instance = await locks.lock_instance(context, body.compute_id)
    config = await choose_config(context.db, instance, body.config_id)
    if body.region not in (None, instance.region):
        raise invalid(locks.ELSEWHERE)
    locks.check_region(context, instance)
    await locks.check_room(context.db, instance, True)
    queue = context.get(JobQueue)
    turn = await locks.find_turn(context.db, queue, None, instance.id)
    return _Target(instance, config.id, turn)


async def clone(context: Context, source: VolumeFacts, turn: Turn, label: str) -> str:
    """The record of a new volume that gets the size and the data of another one.

    400 unless that is active.
    """
    locks.check_rests(source)
    new = NewVolume(
        account_id=source.account_id,
        label=label,
        region=source.region,
        engine=source.engine,
        host=await _host_of_copy(context, source),
        size=source.size,
        tags=[],
        source_id=source.id,
        now=context.clock.seconds(),
    )
    volume_id, record = await _insert(context, new)
    args = CloneArgs(volume_id=volume_id, source_id=source.id, after=turn.after)
    copy, size = VOLUME.entity(volume_id, label), source.size * 1024
    await log.start(context, jobs.CLONE, args, VOLUME.of(source), copy, size=size)
    await limits.check_new(context, volume_id, new, stays=True)
    return record


async def _host_of_copy(context: Context, source: VolumeFacts) -> str:
    """Where the source is when the copy's turn comes: with its instance."""
    if source.compute_id is None:
        return source.host
    instance = await instance_queries.find(context.db, source.compute_id)
    return source.host if instance is None else instance.host


async def _insert(context: Context, new: NewVolume) -> tuple[int, str]:
    made = await queries.insert(context.db, new)
    if made is None:
        raise invalid(LABEL_TAKEN, "label")
    await begin(context.db, queries.CHARGED, made[0], new.now)
    await give_to_creator(context, VOLUME.name, made[0])
    return made


async def attach(context: Context, volume_id: int, body: AttachVolume) -> None:
    """Rule 1, and the limit of volumes for each instance. Of an instance that is being deleted it
    goes to the other one when that is gone."""
    await locks.find(context, volume_id)
    instance = await locks.lock_instance(context, body.compute_id)
    persists, config_id = body.persist_across_boots, None
    if persists:
        config_id = (await choose_config(context.db, instance, body.config_id)).id
    volume, queue = await locks.lock(context, volume_id), context.get(JobQueue)
    volume, former = await take_from_deleted(context.db, queue, volume)
    turn = await locks.find_turn(context.db, queue, volume.id, instance.id, former)
    locks.check_free(volume, turn)
    locks.check_region_of(volume, instance)
    if not persists and instance.status != "running":
        raise invalid("Compute is not running.")
    await locks.check_room(context.db, instance, persists)
    await queries.attach(context.db, volume.id, instance.id, persists, context.clock.now())
    if config_id is not None:
        await locks.name_in_config(context.db, config_id, volume.id)
    if volume.host != instance.host:
        await _bring(context, volume, instance, turn)
    args = AttachmentArgs(volume_id=volume.id, compute_id=instance.id, after=turn.after)
    await log.start(context, jobs.ATTACH, args, VOLUME.of(volume), COMPUTE.of(instance))


async def _bring(
    context: Context, volume: VolumeFacts, instance: InstanceFacts, turn: Turn
) -> None:
    """Before it is attached, to the host of the instance. 400 where that takes nothing or has no
    room, or where the volume's own host is not seen."""
    source = await hosts.find(context.db, volume.host)
    target = await hosts.find(context.db, instance.host)
    if source is None or target is None or not (source.alive and target.alive and target.address):
        raise invalid(locks.ON_ANOTHER_HOST)
    needs = Promised(0, 1024 * volume.size)
    if not await has_room(context, volume.region, instance.host, needs):
        raise invalid("The host of the Compute has no room for the volume.")
    args = BringArgs(
        volume_id=volume.id, compute_id=instance.id, host=instance.host, after=turn.after
    )
    await log.start(context, BRING, args, VOLUME.of(volume), COMPUTE.of(instance))


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
    """Rule 2. The new size is shown from now on. 400 unless it is active."""
    volume, _, turn = await locks.lock_turn(context, volume_id)
    if size > rules.MAX_SIZE:
        most = f"{rules.MAX_SIZE} gigabytes"
        raise invalid(f"Storage volumes cannot be resized larger than {most}")
    if size <= volume.size:
        raise invalid("Storage volumes can only be resized up")
    locks.check_rests(volume)
    args = ResizeArgs(volume_id=volume.id, size=size, after=turn.after, queued=turn.queued)
    await log.start(context, jobs.RESIZE, args, VOLUME.of(volume))
    await limits.check_resized(context, volume.region, volume.host)


async def delete(context: Context, volume_id: int) -> None:
    """Rule 5. From now on nobody sees it. It goes behind an instance that has it and is deleted.

    What else is done with it is not done any further, save that it is detached or copied.
    """
    volume, queue = await locks.lock(context, volume_id), context.get(JobQueue)
    holder = await _holder(context, volume)
    ends = holder is not None and holder.status == "deleting"
    turn = await locks.find_turn(context.db, queue, volume.id, volume.compute_id if ends else None)
    if volume.compute_id is None:
        await queue.preempt(context.db, resource_of(volume.id), "The volume was deleted.")
    elif not (ends or await _is_detaching(context, volume)):
        raise invalid("Volume must be detached before it can be deleted.")
    await queries.set_deleting(context.db, volume.id)
    await record(context.db, queries.CHARGED, volume.id, context.clock.now())
    args = VolumeArgs(volume_id=volume.id, after=turn.after)
    await log.start(context, jobs.DELETE, args, VOLUME.of(volume))


async def _holder(context: Context, volume: VolumeFacts) -> InstanceFacts | None:
    """The instance that has it. 400 while it goes to another region with that (spec A volumes
    delete migrating)."""
    if volume.compute_id is None:
        return None
    instance = await instance_queries.find(context.db, volume.compute_id)
    if instance is not None and instance.target_region is not None:
        raise invalid("Volume is migrating.")
    return instance


async def _is_detaching(context: Context, volume: VolumeFacts) -> bool:
    """Whether that is the last that is to be done between it and an instance."""
    found = await context.get(JobQueue).unfinished(context.db, resource_of(volume.id))
    kinds = [job.kind for job in found if job.kind in (jobs.ATTACH.name, jobs.DETACH.name)]
    return kinds[-1:] == [jobs.DETACH.name]
