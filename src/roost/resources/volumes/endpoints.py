"""What the API offers: block storage volumes (spec A volumes)."""

from asyncpg import UniqueViolationError

from roost.core.events import log
from roost.errors import invalid
from roost.resources.compute.locks import check_exists
from roost.resources.tags.service import change_tags, use_tags
from roost.resources.volumes import locks, queries, service
from roost.resources.volumes.bodies import (
    AttachVolume,
    CloneVolume,
    CreateVolume,
    ResizeVolume,
    UpdateVolume,
)
from roost.resources.volumes.queries import VOLUME, VOLUMES, VOLUMES_OF_INSTANCE
from roost.resources.volumes.records import VolumeRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Write
from roost.web.registry import DryRun, Page, Rate, endpoint

_READ = ("volumes:read_only",)
_WRITE = ("volumes:read_write",)
_BOTH = ("volumes:read_write", "computes:read_write")
_ONE = "/volumes/{volumeId:int}"


@endpoint(
    "GET",
    "/volumes",
    scopes=_READ,
    grant=Listed("volume"),
    returns=Page(VolumeRow),
    filters=VOLUMES.columns,
)
async def list_volumes(call: Call) -> bytes:
    """List volumes.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(VOLUMES, call.account_id)


@endpoint(
    "POST",
    "/volumes",
    scopes=_WRITE,
    grant=Global("add_volumes"),
    body=CreateVolume,
    returns=VolumeRow,
    events=("volume_create",),
    rate=Rate(25, 60),
    dry_run=DryRun(),
)
async def create_volume(call: Call, body: CreateVolume) -> str:
    """Create a volume.

    In a region, or attached to an instance. It is `active` once it can be used.
    """
    await use_tags(call, body.tags)
    return await service.create(call, body)


@endpoint("GET", _ONE, scopes=_READ, grant=Read("volume"), returns=VolumeRow)
async def view_volume(call: Call) -> bytes:
    """View a volume.

    Its `compute_id` says where it is attached.
    """
    return await call.record(call.number("volumeId"), VOLUMES, call.account_id)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("volume"),
    body=UpdateVolume,
    of=view_volume,
    returns=VolumeRow,
    events=("volume_update",),
)
async def update_volume(call: Call, body: UpdateVolume) -> bytes:
    """Update a volume.

    A guest that has it keeps the old path until it is plugged in anew.
    """
    tags = await change_tags(call, VOLUME, call.number("volumeId"), body.tags)
    volume = await locks.lock(call, call.number("volumeId"))
    try:
        changed = await queries.update(call.db, volume.id, body.label, tags, call.clock.now())
    except UniqueViolationError:
        raise invalid(service.LABEL_TAKEN, "label") from None
    if changed:
        entity = VOLUME.entity(volume.id, body.label or volume.label)
        await log.notify(call, "volume_update", entity)
    return await _record(call)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Write("volume"),
    events=("volume_delete",),
    dry_run=DryRun(),
)
async def delete_volume(call: Call) -> None:
    """Delete a volume.

    All that is on it is lost. Detach it first.
    """
    await service.delete(call, call.number("volumeId"))


@endpoint(
    "POST",
    f"{_ONE}/attach",
    scopes=_BOTH,
    grant=Write("volume"),
    body=AttachVolume,
    of=view_volume,
    returns=VolumeRow,
    events=("volume_attach", "volume_migrate"),
)
async def attach_volume(call: Call, body: AttachVolume) -> bytes:
    """Attach a volume to a compute instance.

    Both must be in the same region, and the volume attached to nothing. A guest that runs
    finds it at once, and the config names it for the next boots. Where the instance is on another
    machine of the region, the volume is brought there first (`volume_migrate`).
    """
    await service.attach(call, call.number("volumeId"), body)
    return await _record(call)


@endpoint("POST", f"{_ONE}/detach", scopes=_BOTH, grant=Write("volume"), events=("volume_detach",))
async def detach_volume(call: Call) -> None:
    """Detach a volume from its compute instance.

    Unmount it first: a guest that still uses it keeps it, and the event fails. Its data stay.
    """
    await service.detach(call, call.number("volumeId"))


@endpoint(
    "POST",
    f"{_ONE}/clone",
    scopes=_WRITE,
    grant=Read("volume", right="add_volumes"),
    body=CloneVolume,
    of=view_volume,
    returns=VolumeRow,
    events=("volume_clone",),
    dry_run=DryRun(),
)
async def clone_volume(call: Call, body: CloneVolume) -> str:
    """Clone a volume.

    The copy has the size and the data of this moment, and is attached to nothing. The source
    must be `active`; users need to see it.
    """
    source, _, turn = await locks.lock_turn(call, call.number("volumeId"), own=False)
    return await service.clone(call, source, turn, body.label)


@endpoint(
    "POST",
    f"{_ONE}/resize",
    scopes=_WRITE,
    grant=Write("volume"),
    body=ResizeVolume,
    of=view_volume,
    returns=VolumeRow,
    events=("volume_resize",),
    dry_run=DryRun(),
)
async def resize_volume(call: Call, body: ResizeVolume) -> bytes:
    """Resize a volume.

    It must be `active`, and can only grow. The guest sees the new size when its event is
    finished; grow the file system then.
    """
    await service.resize(call, call.number("volumeId"), body.size)
    return await _record(call)


@endpoint(
    "GET",
    "/compute/instances/{computeId:int}/volumes",
    scopes=("computes:read_only",),
    grant=Read("compute"),
    returns=Page(VolumeRow),
    filters=VOLUMES.columns,
)
async def list_volumes_of_instance(call: Call) -> bytes:
    """List the volumes of a compute instance.

    Those that are attached to it.
    """
    compute_id = await check_exists(call, call.number("computeId"))
    return await call.collection(VOLUMES_OF_INSTANCE, call.account_id, compute_id)


async def _record(call: Call) -> bytes:
    return await fetch_record(call.db, VOLUMES, (call.account_id,), call.number("volumeId"))
