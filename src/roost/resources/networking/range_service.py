"""IPv6 ranges: made for an instance, moved to others, shared with others (spec B networking 5)."""

from collections.abc import Collection, Mapping
from ipaddress import IPv6Network

from roost.core.access import require_all
from roost.core.addresses import range_queries as ranges
from roost.core.addresses import share_queries
from roost.core.addresses.range_queries import RangeFacts
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.queries import hold
from roost.errors import invalid, not_found
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.locks import check_open, find_turn, lock, lock_turn
from roost.resources.networking import jobs, range_queries

ORDER = "addresses"

NO_POOL = "The region has no free IPv6 range"
ONE_OF_INSTANCE = "An instance can have one IPv6 range at most"
ONE_OF_REGION = "An account can have one IPv6 range in a region"
LEAVING = f"{ONE_OF_REGION}; that of Compute {{}}, which is being deleted, can be deleted at once"
SHARED = "A shared range cannot be assigned or deleted; end its sharing first"


async def create(
    context: Context, prefix: int, compute_id: int | None, route_target: str | None
) -> tuple[IPv6Network, InstanceFacts]:
    """A free range, routed to an instance from when its event is finished."""
    await hold(context.db, ORDER, context.account_id)
    if compute_id is None:
        compute_id = await range_queries.target(context.db, context.account_id, route_target or "")
        if compute_id is None:
            raise invalid("route_target is not valid", "route_target")
        await require_all(context, COMPUTE.name, [compute_id], "read_write")
    facts, _ = await lock_turn(context, compute_id)
    check_open(facts)
    for held in await ranges.of_account(context.db, context.account_id):
        if held.compute_id == facts.id:
            raise invalid(ONE_OF_INSTANCE)
        if held.region == facts.region:
            raise invalid(LEAVING.format(held.compute_id) if held.leaving else ONE_OF_REGION)
    await ranges.lock_region(context.db, facts.region)
    network = await _free(context, facts.region, prefix)
    await ranges.insert(context.db, network, facts.region, context.account_id, facts.id)
    await jobs.start(context, "ipv6pool_add", facts.id, facts.label, str(network.network_address))
    return network, facts


async def _free(context: Context, region: str, prefix: int) -> IPv6Network:
    for pool in context.get(Catalog).ipv6_ranges(region):
        found = await ranges.next_free(context.db, pool, prefix)
        if found is not None:
            return found
    raise invalid(NO_POOL, "prefix_length")


async def delete(context: Context, first: str) -> None:
    """Free for others when its event is finished. Raises 400 for one that is shared, and while
    its instance is being made anew; with an instance that is being deleted it would go anyhow."""
    await hold(context.db, ORDER, context.account_id)
    found = (await by_address(context)).get(first)
    if found is None:
        raise not_found()
    await require_all(context, COMPUTE.name, [found.compute_id], "read_write")
    if found.shared:
        raise invalid(SHARED)
    facts = await lock(context, found.compute_id)
    if facts.status != "deleting":
        await find_turn(context, facts)
        check_open(facts)
    await share_queries.leave(context.db, facts.id, str(found.network))
    await ranges.delete(context.db, found.network)
    await jobs.start(context, "ipv6pool_delete", facts.id, facts.label, first)


async def by_address(context: Context) -> Mapping[str, RangeFacts]:
    """The ranges of the account by their first address."""
    found = await ranges.of_account(context.db, context.account_id)
    return {str(each.network.network_address): each for each in found}


async def assign(
    context: Context, held: Mapping[str, RangeFacts], targets: Mapping[str, int]
) -> None:
    """Route ranges to other instances, which the caller has locked (spec B networking 2).

    `held`: all that the account has, by their texts.
    """
    after = [targets.get(name, each.compute_id) for name, each in held.items()]
    if len(set(after)) < len(after):
        raise invalid(ONE_OF_INSTANCE, "assignments")
    for name, each in held.items():
        target = targets.get(name, each.compute_id)
        if target != each.compute_id:
            await ranges.retarget(context.db, each.network, target)
            await share_queries.leave(context.db, each.compute_id, str(each.network))


async def share(context: Context, compute_id: int, found: Collection[RangeFacts]) -> bool:
    """Let an instance send from ranges of others, and no more than these; whether it is new."""
    before = await ranges.shared_to(context.db, compute_id)
    wanted = {each.network for each in found}
    await ranges.share(context.db, compute_id, wanted)
    return before != wanted
