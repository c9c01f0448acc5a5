"""Making volumes: empty ones, and clones."""

from roost.core.events import log
from roost.errors import invalid, out_of_scope
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.turns import FIRST, Turn
from roost.resources.volumes import attaching, jobs, limits, queries
from roost.resources.volumes.args import CloneArgs, CreateArgs
from roost.resources.volumes.bodies import CreateVolume
from roost.resources.volumes.engines import VolumeEngines
from roost.resources.volumes.entity import VOLUME
from roost.resources.volumes.queries import NewVolume, VolumeFacts
from roost.web.call import Call
from roost.web.grants import give_to_creator

LABEL_TAKEN = "Label must be unique among your volumes"


async def create(call: Call, body: CreateVolume) -> str:
    """The record of a new volume, unattached or attached."""
    instance, turn = await _instance(call, body)
    region = body.region if instance is None else instance.region
    assert region is not None
    new = NewVolume(
        account_id=call.account_id,
        label=body.label,
        region=region,
        engine=call.get(VolumeEngines).of(region).name,
        size=body.size,
        tags=body.tags,
        compute_id=body.compute_id,
        now=call.clock.seconds(),
    )
    volume_id, record = await _insert(call, new)
    secondary = None
    if instance is not None:
        await attaching.name_in_config(call.db, instance, body.config_id, volume_id)
        secondary = COMPUTE.entity(instance.id, instance.label)
    await jobs.enqueue(
        call.get(JobQueue),
        call.db,
        jobs.CREATE,
        CreateArgs(volume_id=volume_id, compute_id=body.compute_id, after=turn.after),
        body.label,
        log.Actor.of(call),
        secondary,
    )
    await limits.check_new(call, region)
    return record


async def _instance(call: Call, body: CreateVolume) -> tuple[InstanceFacts | None, Turn]:
    """What the volume is to be attached to, if anything, and behind which jobs there.

    401 for a token that may not attach.
    """
    if body.compute_id is None:
        return None, FIRST
    if not call.identity.scopes.allow(("computes:read_write",)):
        raise out_of_scope()
    instance = await attaching.lock_instance(call, body.compute_id)
    if body.region not in (None, instance.region):
        raise invalid(attaching.ELSEWHERE)
    attaching.check_region(call, instance)
    await attaching.check_room(call.db, instance, True)
    queue = call.get(JobQueue)
    return instance, await attaching.find_turn(call.db, queue, None, instance.id)


async def clone(call: Call, source: VolumeFacts, turn: Turn, label: str) -> str:
    """The record of a new volume that gets the size and the data of another one."""
    new = NewVolume(
        account_id=source.account_id,
        label=label,
        region=source.region,
        engine=source.engine,
        size=source.size,
        tags=[],
        source_id=source.id,
        now=call.clock.seconds(),
    )
    volume_id, record = await _insert(call, new)
    await jobs.enqueue_about(
        call.get(JobQueue),
        call.db,
        jobs.CLONE,
        CloneArgs(volume_id=volume_id, source_id=source.id, after=turn.after),
        log.Actor.of(call),
        VOLUME.entity(source.id, source.label),
        VOLUME.entity(volume_id, label),
        source.size * 1024,
    )
    await limits.check_new(call, source.region)
    return record


async def _insert(call: Call, new: NewVolume) -> tuple[int, str]:
    made = await queries.insert(call.db, new)
    if made is None:
        raise invalid(LABEL_TAKEN, "label")
    await give_to_creator(call, VOLUME.name, made[0])
    return made
