"""What an account and a region may have of instances (docs/catalog.md, Limits)."""

from collections.abc import Iterable

from roost.core.access import refuse_nameless
from roost.core.catalog.entries import PlanEntry
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.capacity import check_capacity, settle_host
from roost.core.limits.check import check_limits
from roost.core.limits.host import Promised
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.limits.queries import hold
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.interface_bodies import Interface
from roost.resources.compute.locks import resource_of
from roost.resources.compute.queries import NewInstance, set_host
from roost.resources.compute.totals_queries import PROMISED, count_vlans, promised, promised_in
from roost.store import Queries

COMPUTES = LimitGroup(
    "computes",
    f"{PROMISED} where i.account_id = $1 and i.status <> 'deleting'",
    (
        LimitKind("instances", "compute instances", 250),
        LimitKind("memory", "MB of memory in compute instances", 1024**2, promised("memory")),
        LimitKind("vcpus", "vCPUs in compute instances", 1000, promised("vcpus")),
        LimitKind("storage", "MB of storage in compute instances", 20 * 1024**2, promised("disk")),
    ),
)

MAX_VLANS = 10
"""For each region (spec B limits vlans)."""


async def promise(db: Queries, region: str, host: str) -> Promised:
    """What instances have of a host."""
    return Promised(*await promised_in(db, region, host))


async def check_new(context: Context, new: NewInstance, *, stays: bool) -> None:
    """400 when a new instance, which is written already, is too much for the account or for hosts.

    One that need not stay on its host goes to another one that has room, with its job.
    """
    await check_limits(context, COMPUTES)
    region, host = new["region"], new["host"]
    if stays:
        await check_capacity(context, region, "region", host=host)
        return
    needs = Promised(new["memory"], new["disk"], new["vcpus"])
    settled = await settle_host(context, region, host, needs, "region")
    if settled != host:
        await set_host(context.db, new["id"], settled)
        await context.get(JobQueue).move(context.db, resource_of(new["id"]), settled)


async def check_resized(context: Context, instance: InstanceFacts, plan: PlanEntry) -> None:
    """Check an instance that is to have this plan, which is written already."""
    if await check_grown(context, instance, plan):
        await check_capacity(context, instance.region, "type", host=instance.host)


async def check_grown(context: Context, instance: InstanceFacts, plan: PlanEntry) -> bool:
    """Whether the plan has more of anything; 400 when that is too much for the account."""
    bigger: dict[str, bool] = {
        "memory": plan.memory > instance.memory,
        "vcpus": plan.vcpus > instance.vcpus,
        "storage": plan.disk > instance.disk,
    }
    grown = [name for name, grows in bigger.items() if grows]
    if grown:
        await check_limits(context, COMPUTES, *grown)
    return bool(grown)


async def check_vlans(
    context: Context, region: str, interfaces: Iterable[Interface], field: str = "interfaces"
) -> None:
    """400 when the account has too many VLANs in the region, after the interfaces are written.

    403 for a token that may name certain entities alone, as VLANs are none.
    """
    if not any(interface.purpose == "vlan" for interface in interfaces):
        return
    refuse_nameless(context)
    await hold(context.db, "vlans", context.account_id)
    if await count_vlans(context.db, context.account_id, region) > MAX_VLANS:
        raise invalid(f"An account may have at most {MAX_VLANS} VLANs in a region", field)
