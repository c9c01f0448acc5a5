"""Resizing: another plan (reference: resize, mutate)."""

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.errors import invalid
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import jobs, queries, rules
from roost.resources.compute.lifecycle.args import ResizeArgs
from roost.resources.compute.lifecycle.bodies import ResizeInstance
from roost.resources.compute.lifecycle.plans import check_plan
from roost.resources.compute.limit_queries import set_resize_type
from roost.resources.compute.limits import check_resized
from roost.resources.compute.queries import InstanceFacts

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
    specs = await check_plan(context, instance, type_id)
    if await disks.allocated(context.db, instance.id) > specs.disk:
        raise invalid(rules.TOO_MUCH_DISK)
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
    await set_resize_type(context.db, instance.id, type_id)
    entity = COMPUTE.of(instance)
    await log.notify(context, request, entity)
    await log.start(context, jobs.RESIZE, args, entity, action=action)
    await check_resized(context, instance, context.get(Catalog).type(type_id))


async def mutate(context: Context, instance: InstanceFacts, grow: bool) -> None:
    """To the successor of the plan that the instance has."""
    plan = context.get(Catalog).find_type(instance.type)
    if plan is None or plan.successor is None:
        raise invalid("There is no upgrade for the service plan of this Compute.")
    action = "compute_mutate"
    await _resize(context, instance, plan.successor, grow, action, f"{action}_create")
