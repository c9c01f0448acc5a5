"""Changes of disks: their rules, rows, events and jobs."""

from typing import TypeVar

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.core.turns import Turn
from roost.errors import invalid
from roost.jobs.kinds import JobKind
from roost.resources.compute.disks import jobs, queries, rules
from roost.resources.compute.disks.bodies import CreateDisk
from roost.resources.compute.disks.jobs import IN_USE, CloneArgs, DiskArgs, ResizeArgs, is_used
from roost.resources.compute.disks.queries import DiskFacts, NewDisk, disk_entity
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.references import find_image, set_up_note
from roost.resources.compute.script_service import deploy
from roost.resources.ssh_keys.bodies import stored_keys
from roost.secrets import Box, hash_guest_password
from roost.threads import COMPUTING

A = TypeVar("A", bound=DiskArgs)


async def create(context: Context, instance: InstanceFacts, turn: Turn, body: CreateDisk) -> int:
    """The new disk's id."""
    keys = await stored_keys(context, body.authorized_keys, body.authorized_users)
    await check_image(context, instance, body.image)
    await check_space(context, instance, body.size)
    script = await deploy(context, instance.id, body)
    setup = SealedSetup(root_pass=body.root_pass, authorized_keys=keys, script=script)
    new = NewDisk(
        compute_id=instance.id,
        label=body.label or await _image_label(context, body.image),
        size=body.size,
        filesystem=body.filesystem,
        image=body.image,
        setup=setup.seal(context.get(Box)) if body.image else None,
    )
    disk = await queries.insert(context.db, new, context.clock.now())
    args = _args(context, disk, turn)
    note = await set_up_note(context, body.image)
    await _start(context, jobs.CREATE, args, instance, disk, note)
    return disk.id


async def clone(context: Context, instance: InstanceFacts, source: DiskFacts, turn: Turn) -> int:
    """The copy's id; it gets the set-up of its source too."""
    _check_ready(source, turn)
    await check_space(context, instance, source.size, field=None)
    new = source.copy_for(instance.id, rules.copy_label(source.label))
    disk = await queries.insert(context.db, new, context.clock.now())
    args = CloneArgs(**_args(context, disk, turn).model_dump(), source_id=source.id)
    await _start(context, jobs.DUPLICATE, args, instance, disk)
    return disk.id


async def resize(
    context: Context, instance: InstanceFacts, disk: DiskFacts, turn: Turn, size: int
) -> None:
    """One in use is accepted here, and refused by the engine (reference: disk resize)."""
    _check_ready(disk, turn)
    await check_space(context, instance, size - disk.size)
    args = ResizeArgs(**_args(context, disk, turn).model_dump(), size=size, former=disk.size)
    await _start(context, jobs.RESIZE, args, instance, disk)


async def delete(context: Context, instance: InstanceFacts, disk: DiskFacts, turn: Turn) -> None:
    """One that is being deleted is what the caller asks for."""
    if disk.status == "deleting":
        return
    if not turn.queued:
        await check_unused(context, instance, disk)
    args = _args(context, disk, turn)
    await _start(context, jobs.DELETE, args, instance, disk)


async def hash_password(password: str) -> str:
    return await COMPUTING.run(hash_guest_password, password)


async def set_password(
    context: Context, instance: InstanceFacts, disk: DiskFacts, hashed: str
) -> None:
    """The next boot from the disk applies it."""
    if not rules.can_have_password(disk.filesystem):
        raise invalid("A disk of this file system has no root password.")
    await check_unused(context, instance, disk)
    box = context.get(Box)
    setup = SealedSetup() if disk.setup is None else SealedSetup.unseal(box, disk.setup)
    new = setup.model_copy(update={"root_pass": None, "root_password_hash": hashed})
    revision = disk.password_revision + 1
    await queries.set_setup(context.db, disk.id, new.seal(box), revision, context.clock.now())
    await notify(context, "password_reset", instance, disk.id, disk.label)


async def check_image(context: Context, instance: InstanceFacts, image: str | None) -> None:
    """400 when the instance's region does not have the image."""
    if image is not None and not context.get(Catalog).offers_image(instance.region, image):
        raise invalid("The region does not have this image", "image")


async def check_space(
    context: Context, instance: InstanceFacts, wanted: int, field: str | None = "size"
) -> None:
    """400 unless `wanted` MB fit in the plan beside what is allocated."""
    allocated = await queries.allocated(context.db, instance.id)
    reason = rules.space_reason(instance.disk, allocated, wanted)
    if wanted > 0 and reason is not None:
        raise invalid(reason, field)


async def check_unused(context: Context, instance: InstanceFacts, disk: DiskFacts) -> None:
    """400 when the instance runs with the disk."""
    if await is_used(context.db, instance, disk.id):
        raise invalid(IN_USE)


async def notify(
    context: Context, action: str, instance: InstanceFacts, disk_id: int, label: str
) -> None:
    second = disk_entity(instance.id, disk_id, label)
    await log.notify(context, action, COMPUTE.of(instance), second)


def _check_ready(disk: DiskFacts, turn: Turn) -> None:
    """One that is only going to be made is waited for."""
    awaited = turn.queued and not disk.made and disk.status == "not ready"
    if disk.status != "ready" and not awaited:
        raise invalid("The disk is not ready.")


async def _image_label(context: Context, image_id: str | None) -> str:
    image = await find_image(context, image_id)
    if image is None:
        raise invalid("image is not valid", "image")
    return rules.image_label(image.label)


async def _start(
    context: Context,
    kind: JobKind[A],
    args: A,
    instance: InstanceFacts,
    disk: DiskFacts,
    message: str = "",
) -> None:
    second = disk_entity(instance.id, disk.id, disk.label)
    await log.start(context, kind, args, COMPUTE.of(instance), second, message=message)


def _args(context: Context, disk: DiskFacts, turn: Turn) -> DiskArgs:
    return DiskArgs(
        compute_id=disk.compute_id,
        username=context.identity.username,
        disk_id=disk.id,
        queued=turn.queued,
        after=turn.after,
    )
