"""Going to another region, or to where maintenance sends an instance (reference: migrate)."""

from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts, find
from roost.core.limits.capacity import check_capacity
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.compute import transfer_service
from roost.resources.compute.backups.queries import has_any
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.lifecycle import migration_queries, queries
from roost.resources.compute.lifecycle.bodies import MigrateInstance, MigrationType
from roost.resources.compute.lifecycle.migration_jobs import ACTION, MIGRATE, MigrateArgs
from roost.resources.compute.lifecycle.rules import Specs
from roost.resources.compute.lifecycle.service import (
    check_disks,
    check_plan,
    foresee_plan,
    successor,
)
from roost.resources.compute.limits import check_grown
from roost.resources.compute.neighbours import InstanceMaintenance

_FIELD = "region"
_COLD = "Its addresses change with the region: it is powered off on the way, though not asked for."


async def migrate(context: Context, instance: InstanceFacts, body: MigrateInstance) -> None:
    """Without a region, what maintenance is to do with the instance later is done now."""
    if body.region is None:
        if not await context.get(InstanceMaintenance).begin_migration(context, instance):
            raise invalid("There is no pending migration for this Compute: name a region", _FIELD)
        return
    region = context.get(Catalog).find_region(body.region)
    assert region is not None
    if region.id == instance.region:
        raise invalid("Compute is already in this region", _FIELD)
    specs = await _specs(context, instance, region, body.upgrade)
    await _check_anchors(context, instance, region)
    await _start(context, instance, region, specs if body.upgrade else None, body.type)
    await check_grown(context, instance, context.get(Catalog).type(specs.type))
    await check_capacity(context, region.id, _FIELD, host=instance.host)


async def foresee(context: Context, compute_id: int) -> None:
    """In the ledger, what the job writes there with the new region and the new plan."""
    instance = await find(context.db, compute_id)
    assert instance is not None
    if instance.target_region is None:
        return
    region, now = instance.target_region, context.clock.now()
    await context.get(Neighbours).moved(context.db, context.services, compute_id, region)
    await migration_queries.set_region(context.db, compute_id, region, now)
    await foresee_plan(context, compute_id)


async def _specs(
    context: Context, instance: InstanceFacts, region: RegionEntry, upgrade: bool
) -> Specs:
    """What it is to have there; 400 where that is not to be had."""
    plan = successor(context, instance) if upgrade else instance.type
    specs = await check_plan(context, instance, plan, region.id, _FIELD)
    if upgrade:
        await check_disks(context, instance, specs)
    return specs


async def _check_anchors(context: Context, instance: InstanceFacts, region: RegionEntry) -> None:
    """400 with all that keeps the instance where it is."""
    reasons = await transfer_service.ties(context.db, instance)
    if context.get(Engines).of(INSTANCE_PLANE, region.id).name != instance.engine:
        reasons.append("has a guest that the region cannot take over")
    if "Backups" not in region.capabilities and await has_any(context.db, instance.id):
        reasons.append("has backups, which the region does not offer")
    neighbours = context.get(Neighbours)
    reasons += await neighbours.anchors(context.db, context.services, instance.id, region)
    if reasons:
        raise invalid_fields([Problem(f"Compute {reason}", _FIELD) for reason in reasons])


async def _start(
    context: Context,
    instance: InstanceFacts,
    region: RegionEntry,
    specs: Specs | None,
    kind: MigrationType,
) -> None:
    """The request has an event of its own, beside that of the work."""
    args = MigrateArgs(
        compute_id=instance.id,
        username=context.identity.username,
        booted=instance.status == "running",
        source=instance.region,
        region=region.id,
        specs=specs,
    )
    plan = instance.type if specs is None else specs.type
    await migration_queries.set_target(context.db, instance.id, region.id)
    await queries.set_resize_type(context.db, instance.id, plan)
    entity = COMPUTE.of(instance)
    message = _COLD if kind == "warm" and args.booted else ""
    await log.notify(context, f"{ACTION}_create", entity, message=message)
    await log.start(context, MIGRATE, args, entity, action=ACTION)
