"""Making volumes: empty ones, and clones."""

from roost.core.access import give_to_creator
from roost.core.context import Context
from roost.core.events import log
from roost.core.planes import Engines
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.turns import FIRST, Turn
from roost.resources.volumes import attaching, jobs, limits, queries
from roost.resources.volumes.args import CloneArgs, CreateArgs
from roost.resources.volumes.bodies import CreateVolume
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.resources.volumes.entity import VOLUME
from roost.resources.volumes.queries import NewVolume, VolumeFacts

LABEL_TAKEN = "Label must be unique among your volumes"


async def create(context: Context, body: CreateVolume) -> str:
    """The record of a new volume, unattached or attached."""
    instance, turn = await _instance(context, body)
    region = body.region if instance is None else instance.region
    assert region is not None
    new = NewVolume(
        account_id=context.account_id,
        label=body.label,
        region=region,
        engine=context.get(Engines).of(VOLUME_PLANE, region).name,
        size=body.size,
        tags=body.tags,
        compute_id=body.compute_id,
        now=context.clock.seconds(),
    )
    volume_id, record = await _insert(context, new)
    secondary = None
    if instance is not None:
        await attaching.name_in_config(context.db, instance, body.config_id, volume_id)
        secondary = COMPUTE.of(instance)
    args = CreateArgs(volume_id=volume_id, compute_id=body.compute_id, after=turn.after)
    entity = VOLUME.entity(volume_id, body.label)
    await log.start(context, jobs.CREATE, args, entity, secondary)
    await limits.check_new(context, region)
    return record


async def _instance(context: Context, body: CreateVolume) -> tuple[InstanceFacts | None, Turn]:
    """What the volume is to be attached to, if anything, and behind which jobs there."""
    if body.compute_id is None:
        return None, FIRST
    instance = await attaching.lock_instance(context, body.compute_id)
    if body.region not in (None, instance.region):
        raise invalid(attaching.ELSEWHERE)
    attaching.check_region(context, instance)
    await attaching.check_room(context.db, instance, True)
    queue = context.get(JobQueue)
    return instance, await attaching.find_turn(context.db, queue, None, instance.id)


async def clone(context: Context, source: VolumeFacts, turn: Turn, label: str) -> str:
    """The record of a new volume that gets the size and the data of another one."""
    new = NewVolume(
        account_id=source.account_id,
        label=label,
        region=source.region,
        engine=source.engine,
        size=source.size,
        tags=[],
        source_id=source.id,
        now=context.clock.seconds(),
    )
    volume_id, record = await _insert(context, new)
    args = CloneArgs(volume_id=volume_id, source_id=source.id, after=turn.after)
    copy, size = VOLUME.entity(volume_id, label), source.size * 1024
    await log.start(context, jobs.CLONE, args, VOLUME.of(source), copy, size=size)
    await limits.check_new(context, source.region)
    return record


async def _insert(context: Context, new: NewVolume) -> tuple[int, str]:
    made = await queries.insert(context.db, new)
    if made is None:
        raise invalid(LABEL_TAKEN, "label")
    await give_to_creator(context, VOLUME.name, made[0])
    return made
