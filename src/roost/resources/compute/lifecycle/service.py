"""Rebuilding, rescuing, resizing, and the root password (reference: operations)."""

import base64

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.capacity import FULL
from roost.core.neighbours import Neighbours
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.compute.bodies import Metadata
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.disks.service import check_image, set_password
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import jobs, queries, rules
from roost.resources.compute.lifecycle.bodies import RebuildInstance, RescueDevices, ResizeInstance
from roost.resources.compute.lifecycle.jobs import RebuildArgs, RescueArgs, ResizeArgs
from roost.resources.compute.lifecycle.rules import Specs
from roost.resources.compute.limits import check_resized
from roost.resources.compute.neighbours import InstanceVolumes
from roost.resources.compute.references import find_image, set_up_note
from roost.resources.compute.rules import user_data_reason
from roost.resources.compute.script_service import deploy
from roost.resources.compute.service import Wanted, give_profile
from roost.resources.ssh_keys.bodies import stored_keys
from roost.secrets import Box


async def rebuild(context: Context, instance: InstanceFacts, body: RebuildInstance) -> None:
    """The rows are those of what is going to be; the job knows what was."""
    assert body.image is not None
    await check_image(context, instance, body.image)
    if body.metadata is not None and body.metadata.user_data is not None:
        await check_user_data(context, instance.region, body.image, body.metadata.user_data)
    keys = await stored_keys(context, body.authorized_keys, body.authorized_users)
    specs = await _specs(context, instance, body)
    swap = await _swap(context, body.image, specs)
    args = await _former(context, instance, body)
    now = context.clock.now()
    await queries.mark_deleting(context.db, args.disks, now)
    await queries.set_specs(context.db, instance.id, specs, now)
    await queries.set_image(context.db, instance.id, body.image)
    await _replace_user_data(context, instance, body.metadata)
    script = await deploy(context, instance.id, body)
    setup = SealedSetup(root_pass=body.root_pass, authorized_keys=keys, script=script)
    await give_profile(context, instance.id, Wanted(body.image, specs.disk, swap, setup, (), ()))
    note = await set_up_note(context, body.image)
    await log.start(context, jobs.REBUILD, args, COMPUTE.of(instance), message=note)


async def _specs(context: Context, instance: InstanceFacts, body: RebuildInstance) -> Specs:
    if body.type in (None, instance.type):
        return await queries.specs_of(context.db, instance.id)
    return await check_plan(context, instance, str(body.type), instance.region)


async def _swap(context: Context, image_id: str, specs: Specs) -> int:
    """MB; 400 when the plan's disk does not even hold the image."""
    image = await find_image(context, image_id)
    if image is None:
        raise invalid("image is not valid", "image")
    swap = rules.swap_beside(image.size, specs.disk)
    if swap is None:
        raise invalid(f"The image needs {image.size} MB, the plan has {specs.disk} MB", "image")
    return swap


async def _former(context: Context, instance: InstanceFacts, body: RebuildInstance) -> RebuildArgs:
    user_data = instance.user_data
    return RebuildArgs(
        compute_id=instance.id,
        username=context.identity.username,
        booted=body.booted,
        disks=[disk.id for disk in await disks.of_instance(context.db, instance.id)],
        configs=[config.id for config in await configs.names(context.db, instance.id)],
        image=instance.image,
        user_data=None if user_data is None else base64.b64encode(user_data),
        specs=await queries.specs_of(context.db, instance.id),
    )


async def _replace_user_data(
    context: Context, instance: InstanceFacts, metadata: Metadata | None
) -> None:
    """What is omitted stays; null takes the user data away."""
    if metadata is None or "user_data" not in metadata.model_fields_set:
        return
    text = metadata.user_data
    sealed = None if text is None else context.get(Box).seal(text.encode())
    await queries.set_user_data(context.db, instance.id, sealed)


_MESSAGE = "The instance boots in rescue mode."
"""In the event, whose action is that of any boot."""


async def rescue(context: Context, instance: InstanceFacts, devices: RescueDevices | None) -> None:
    """A guest that runs is stopped before."""
    running = instance.status == "running"
    args = RescueArgs(
        compute_id=instance.id,
        username=context.identity.username,
        slots=await _slots(context, instance, devices),
        status="rebooting" if running else "booting",
    )
    action = "compute_reboot" if running else "compute_boot"
    entity = COMPUTE.of(instance)
    await log.start(context, jobs.RESCUE, args, entity, action=action, message=_MESSAGE)


async def _slots(
    context: Context, instance: InstanceFacts, devices: RescueDevices | None
) -> tuple[SlotFacts, ...]:
    """400 for disks and volumes that the instance does not have."""
    owned = await disks.of_instance(context.db, instance.id)
    if devices is None:
        return rules.rescue_slots(owned)
    volumes = {v.id for v in await context.get(InstanceVolumes).attached(context.db, instance.id)}
    made, problems = {disk.id for disk in owned if disk.made}, list[Problem]()
    for at in devices.taken():
        if at.disk_id is not None and at.disk_id not in made:
            problems.append(Problem("disk_id is not valid", f"devices.{at.slot}.disk_id"))
        if at.volume_id is not None and at.volume_id not in volumes:
            problems.append(Problem("volume_id is not valid", f"devices.{at.slot}.volume_id"))
    if problems:
        raise invalid_fields(problems)
    return tuple(devices.taken())


_REQUESTS = {"cold": "compute_resize_create", "warm": "compute_resize_warm_create"}
"""Events of requests (reference: event actions)."""


async def resize(context: Context, instance: InstanceFacts, body: ResizeInstance) -> None:
    """Up or down; the request has an event of its own, beside that of the work."""
    request = _REQUESTS[body.migration_type]
    await _resize(
        context, instance, body.type, body.allow_auto_disk_resize, jobs.RESIZE.name, request
    )


async def _resize(
    context: Context, instance: InstanceFacts, type_id: str, grow: bool, action: str, request: str
) -> None:
    """With `grow` the only disk with a file system takes all room of the plan."""
    if type_id == instance.type:
        raise invalid(rules.SAME_PLAN)
    specs = await check_plan(context, instance, type_id, instance.region)
    await check_disks(context, instance, specs)
    owned = await disks.of_instance(context.db, instance.id)
    args = ResizeArgs(
        compute_id=instance.id,
        username=context.identity.username,
        booted=instance.status == "running",
        specs=specs,
        former=await queries.specs_of(context.db, instance.id),
    )
    growing = rules.grown(owned, specs.disk) if grow else None
    if growing is not None:
        disk, size = growing
        sizes = {"disk_id": disk.id, "disk_size": size, "disk_former": disk.size}
        args = args.model_copy(update=sizes)
    await queries.set_resize_type(context.db, instance.id, type_id)
    entity = COMPUTE.of(instance)
    await log.notify(context, request, entity)
    await log.start(context, jobs.RESIZE, args, entity, action=action)
    await check_resized(context, instance, context.get(Catalog).type(type_id))


async def mutate(context: Context, instance: InstanceFacts, grow: bool) -> None:
    """To the successor of the plan that the instance has."""
    action, plan = "compute_mutate", successor(context, instance)
    await _resize(context, instance, plan, grow, action, f"{action}_create")


def successor(context: Context, instance: InstanceFacts) -> str:
    """The successor of the plan that the instance has; 400 without one."""
    plan = context.get(Catalog).find_type(instance.type)
    if plan is None or plan.successor is None:
        raise invalid("There is no upgrade for the service plan of this Compute.")
    return plan.successor


async def foresee_plan(context: Context, compute_id: int) -> None:
    """In the ledger, what the job of a resize writes there with the new plan."""
    type_id = await queries.resize_type(context.db, compute_id)
    assert type_id is not None
    specs = Specs.of(context.get(Catalog).type(type_id))
    await queries.set_specs(context.db, compute_id, specs, context.clock.now())


async def reset_password(context: Context, instance: InstanceFacts, hashed: str) -> None:
    """The next boot applies it."""
    if instance.status != "offline":
        raise invalid("Compute must be shut down before its root password is reset.")
    disk = rules.with_password(await disks.of_instance(context.db, instance.id))
    if disk is None:
        raise invalid(rules.NOT_ONE_DISK)
    await set_password(context, instance, disk, hashed)


async def check_plan(
    context: Context, instance: InstanceFacts, type_id: str, region: str, field: str = "type"
) -> Specs:
    """What the instance is going to have; 400 where the region or a neighbour forbids it."""
    catalog = context.get(Catalog)
    if not catalog.offers(region, type_id):
        raise invalid(FULL, field)
    specs = Specs.of(catalog.type(type_id))
    if specs.memory < instance.memory:
        neighbours = context.get(Neighbours)
        reason = await neighbours.objection(context.db, instance.id, specs.memory)
        if reason is not None:
            raise invalid(reason)
    return specs


async def check_disks(context: Context, instance: InstanceFacts, specs: Specs) -> None:
    """400 when the instance's disks are larger than the plan allows."""
    if await disks.allocated(context.db, instance.id) > specs.disk:
        raise invalid(rules.TOO_MUCH_DISK)


_USER_DATA = "metadata.user_data"


async def check_user_data(
    context: Context, region_id: str, image_id: str | None, text: str
) -> None:
    """400 for an image that does nothing with them, and a region that passes none on."""
    catalog = context.get(Catalog)
    image, region = await find_image(context, image_id), catalog.find_region(region_id)
    reason = user_data_reason(text, image, region)
    if reason is not None:
        raise invalid(reason, _USER_DATA)
