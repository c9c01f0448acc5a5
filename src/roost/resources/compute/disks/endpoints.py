"""What the API offers: disks of instances (reference: operations, Compute instances)."""

from roost.core.instance_queries import InstanceFacts
from roost.core.turns import Turn
from roost.errors import not_found
from roost.resources.compute.disks import queries, service
from roost.resources.compute.disks.bodies import CreateDisk, ResizeDisk, SetPassword, UpdateDisk
from roost.resources.compute.disks.queries import DISKS, DiskFacts
from roost.resources.compute.disks.records import DiskRow
from roost.resources.compute.locks import check_exists, check_idle, check_open, lock, lock_turn
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import Page, endpoint

_READ = ("computes:read_only",)
_WRITE = ("computes:read_write",)
_ALL = "/compute/instances/{computeId:int}/disks"
_ONE = f"{_ALL}/{{diskId:int}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Read("compute"),
    returns=Page(DiskRow),
    filters=DISKS.columns,
)
async def list_disks(call: Call) -> bytes:
    """List the disks of a compute instance.

    Without the room that is free: the plan's size less the sizes of the disks.
    """
    return await call.collection(
        DISKS, call.account_id, await check_exists(call, call.number("computeId"))
    )


@endpoint("GET", _ONE, scopes=_READ, grant=Read("compute"), returns=DiskRow)
async def view_disk(call: Call) -> bytes:
    """View a disk.

    Its `status` is `not ready` while a job works on it.
    """
    return await _view(call, call.number("diskId"))


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Write("compute"),
    body=CreateDisk,
    of=list_disks,
    returns=DiskRow,
    events=("disk_create",),
)
async def create_disk(call: Call, body: CreateDisk) -> bytes:
    """Create a disk.

    Empty, or copied from an image. It must fit into what the plan has left; a config must name
    it before a guest finds it.
    """
    instance, turn = await lock_turn(call, call.number("computeId"))
    check_open(instance)
    return await _view(call, await service.create(call, instance, turn, body))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("compute"),
    body=UpdateDisk,
    of=view_disk,
    returns=DiskRow,
    events=("disk_update",),
)
async def update_disk(call: Call, body: UpdateDisk) -> bytes:
    """Update a disk.

    Only the label can be changed here.
    """
    instance, disk = await _lock(call)
    label = body.label or disk.label
    if label != disk.label:
        await queries.set_label(call.db, disk.id, label, call.clock.now())
        await service.notify(call, "disk_update", instance, disk.id, label)
    return await _view(call, disk.id)


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=Write("compute"), events=("disk_delete",))
async def delete_disk(call: Call) -> None:
    """Delete a disk.

    All that is on it is lost. The instance must not run with it.
    """
    instance, disk, turn = await _lock_turn(call)
    await service.delete(call, instance, disk, turn)


@endpoint(
    "POST",
    f"{_ONE}/clone",
    scopes=_WRITE,
    grant=Write("compute"),
    returns=DiskRow,
    events=("disk_duplicate",),
)
async def clone_disk(call: Call) -> bytes:
    """Clone a disk.

    The copy is a disk of the same instance and must fit into what the plan has left.
    """
    instance, disk, turn = await _lock_turn(call)
    return await _view(call, await service.clone(call, instance, disk, turn))


@endpoint(
    "POST",
    f"{_ONE}/resize",
    scopes=_WRITE,
    grant=Write("compute"),
    body=ResizeDisk,
    of=view_disk,
    events=("disk_resize",),
)
async def resize_disk(call: Call, body: ResizeDisk) -> None:
    """Resize a disk.

    With its file system, where there is one. The guest must be off; a file system that does
    not fit lets the job fail, and nothing changes.
    """
    instance, disk, turn = await _lock_turn(call)
    await service.resize(call, instance, disk, turn, body.size)


async def _hash_password(_call: Call, body: SetPassword) -> str:
    return await service.hash_password(body.password)


@endpoint(
    "POST",
    f"{_ONE}/password",
    scopes=_WRITE,
    grant=Write("compute"),
    body=SetPassword,
    prepare=_hash_password,
    of=view_disk,
    events=("password_reset",),
)
async def reset_disk_password(call: Call, hashed: str) -> None:
    """Reset the root password on a disk.

    It applies to the next boot from the disk.
    """
    instance, disk = await _lock(call)
    await check_idle(call, instance)
    await service.set_password(call, instance, disk, hashed)


async def _view(call: Call, disk_id: int) -> bytes:
    return await call.record(disk_id, DISKS, call.account_id, call.number("computeId"))


async def _lock(call: Call) -> tuple[InstanceFacts, DiskFacts]:
    """Instance and disk; 404 for what is not there."""
    instance = await lock(call, call.number("computeId"))
    disk = await queries.find(call.db, instance.id, call.number("diskId"))
    if disk is None:
        raise not_found()
    return instance, disk


async def _lock_turn(call: Call) -> tuple[InstanceFacts, DiskFacts, Turn]:
    """The disk, locked, and behind which jobs of the instance a new one is queued.

    400 while a job replaces the disks.
    """
    instance, turn = await lock_turn(call, call.number("computeId"))
    check_open(instance)
    disk = await queries.find(call.db, instance.id, call.number("diskId"))
    if disk is None:
        raise not_found()
    return instance, disk, turn
