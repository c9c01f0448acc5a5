"""Resizing: another plan (reference: resize, mutate)."""

from roost.errors import invalid
from roost.resources.catalog import Catalog
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.lifecycle import jobs, queries, rules
from roost.resources.compute.lifecycle.args import ResizeArgs
from roost.resources.compute.lifecycle.plans import check_plan
from roost.resources.compute.limit_queries import set_resize_type
from roost.resources.compute.limits import check_resized
from roost.resources.compute.queries import InstanceFacts
from roost.web.call import Call


async def resize(
    call: Call, instance: InstanceFacts, type_id: str, grow: bool, action: str | None = None
) -> None:
    """Up or down; with `grow` the only disk with a file system takes all room of the plan."""
    if type_id == instance.type:
        raise invalid(rules.SAME_PLAN)
    specs = await check_plan(call, instance, type_id)
    if await disks.allocated(call.db, instance.id) > specs.disk:
        raise invalid(rules.TOO_MUCH_DISK)
    owned = await disks.of_instance(call.db, instance.id)
    args = ResizeArgs(
        compute_id=instance.id,
        username=call.identity.username,
        booted=instance.status == "running",
        specs=specs,
        former=await queries.specs_of(call.db, instance.id),
    )
    growing = rules.grown(owned, specs.disk) if grow else None
    if growing is not None:
        disk, size = growing
        sizes = {"disk_id": disk.id, "disk_size": size, "disk_former": disk.size}
        args = args.model_copy(update=sizes)
    await set_resize_type(call.db, instance.id, type_id)
    await jobs.enqueue(call, jobs.RESIZE, args, instance, action)
    await check_resized(call, instance, call.get(Catalog).type(type_id))


async def mutate(call: Call, instance: InstanceFacts, grow: bool) -> None:
    """To the successor of the plan that the instance has."""
    plan = call.get(Catalog).find_type(instance.type)
    if plan is None or plan.successor is None:
        raise invalid("There is no upgrade for the service plan of this Compute.")
    await resize(call, instance, plan.successor, grow, "compute_mutate")
