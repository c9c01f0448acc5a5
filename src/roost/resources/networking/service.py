"""Allocating, moving, sharing and giving back addresses of instances (spec B networking)."""

from collections.abc import Collection, Mapping, Sequence
from ipaddress import IPv6Address

from roost.core.access import require_all
from roost.core.addresses import queries as addresses
from roost.core.addresses import share_queries
from roost.core.addresses.queries import AddressRow, HeldAddress
from roost.core.addresses.range_queries import RangeFacts
from roost.core.addresses.service import PoolExhaustedError, allocate
from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.check import check_limits
from roost.core.limits.queries import hold
from roost.errors import Problem, invalid, invalid_fields, not_found
from roost.resources.compute import address_queries
from roost.resources.compute.address_service import objections
from roost.resources.compute.billing_queries import charge_addresses
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.locks import check_open, find_turn, lock, lock_turn
from roost.resources.compute.neighbours import InstanceVpcs
from roost.resources.networking import jobs, queries, range_queries, range_service, rules
from roost.resources.networking.bodies import Assignment
from roost.resources.networking.limits import PUBLIC
from roost.resources.networking.records import AddressesRow
from roost.resources.networking.rules import Holding
from roost.resources.reverse_dns import address_service as names
from roost.resources.reverse_dns.settings import ReverseDns

UNKNOWN = "IP Address not found."
EXHAUSTED = "The region has no free IPv4 address"
_LINK_LOCAL = 0xFE80 << 112


async def give(context: Context, compute_id: int, public: bool) -> str:
    """Another address for an instance (spec B networking ips allocate)."""
    facts = await _lock(context, compute_id)
    try:
        held = await allocate(context.db, facts.region, public, context.account_id, facts.id)
    except PoolExhaustedError:
        raise invalid(EXHAUSTED) from None
    address = str(held.interface.ip)
    await _check(context, facts, await addresses.held_by(context.db, facts.id))
    await jobs.start(context, "compute_addip", facts.id, facts.label, address)
    await check_limits(context, PUBLIC)
    return address


async def take_away(context: Context, compute_id: int, address: str) -> None:
    """Free when its event is finished; never the last public one."""
    facts = await _lock(context, compute_id)
    found = await addresses.find_held(context.db, context.account_id, address)
    if found is None or found.compute_id != facts.id:
        raise not_found()
    for reason in (await objections(context.db, "moves", [address])).values():
        raise invalid(reason)
    await share_queries.leave(context.db, facts.id, address)
    await addresses.release_one(context.db, address, context.clock.now())
    await names.drop_name(context.db, context.services, address)
    await _check(context, facts, await addresses.held_by(context.db, facts.id))
    await jobs.start(context, "compute_deleteip", facts.id, facts.label, address)


async def assign(context: Context, region: str, assignments: Sequence[Assignment]) -> None:
    """Addresses go to other instances, all of them or none (spec B networking 2)."""
    await hold(context.db, range_service.ORDER, context.account_id)
    _check_regions(region, assignments)
    targets = {each.address: each.compute_id for each in assignments}
    await _check_targets(context, targets.values())
    found = await addresses.find_all_held(
        context.db, context.account_id, filter(rules.is_ipv4, targets)
    )
    ranges = {
        str(each.network): each for each in (await range_service.by_address(context)).values()
    }
    taken = {name: ranges[name] for name in targets if name in ranges}
    for index, each in enumerate(assignments):
        row = found.get(each.address) or taken.get(each.address)
        if row is None:
            raise invalid(UNKNOWN)
        if row.region != region or each.address in _names(assignments[:index]):
            raise invalid("address is not valid", f"assignments[{index}].address")
    if any(each.shared for each in taken.values()):
        raise invalid(range_service.SHARED, "assignments")
    owners = {row.compute_id for row in found.values()} | {r.compute_id for r in taken.values()}
    await require_all(context, COMPUTE.name, owners, "read_write")
    involved = await _lock_all(context, owners | set(targets.values()))
    for index, each in enumerate(assignments):
        if involved[each.compute_id].region != region:
            raise invalid("compute_id is not valid", f"assignments[{index}].compute_id")
    moving = [name for name, row in found.items() if row.compute_id != targets[name]]
    for reason in (await objections(context.db, "moves", moving)).values():
        raise invalid(reason, "assignments")
    held = {key: await addresses.held_by(context.db, key) for key in involved}
    for compute_id, rows in rules.moved(held, targets).items():
        await _check(context, involved[compute_id], rows, "assignments")
    await range_service.assign(context, ranges, targets)
    await _move(context, {**found, **taken}, targets, involved)


async def _move(
    context: Context,
    found: Mapping[str, HeldAddress | RangeFacts],
    targets: Mapping[str, int],
    involved: Mapping[int, InstanceFacts],
) -> None:
    for address, row in found.items():
        if isinstance(row, HeldAddress) and targets[address] != row.compute_id:
            await addresses.move(context.db, address, targets[address])
            await share_queries.leave(context.db, row.compute_id, address)
            await names.move_name(context.db, address, targets[address])
    for compute_id, facts in sorted(involved.items()):
        lost = [a for a, r in found.items() if r.compute_id == compute_id != targets[a]]
        gained = [a for a, r in found.items() if targets[a] == compute_id != r.compute_id]
        if lost or gained:
            await _show(context, compute_id, await addresses.held_by(context.db, compute_id))
            action = "compute_addip" if gained else "compute_deleteip"
            await jobs.start(context, action, facts.id, facts.label, (gained or lost)[0])


async def share(context: Context, compute_id: int, ips: Collection[str]) -> None:
    """Let an instance take over addresses of others, and no more than these (spec B networking 3).

    All are of its region, and in public.
    """
    await hold(context.db, range_service.ORDER, context.account_id)
    found = await addresses.find_all_held(
        context.db, context.account_id, filter(rules.is_ipv4, ips)
    )
    ranges = await range_service.by_address(context)
    shared = {each: ranges[each] for each in ips if each in ranges}
    for index, address in enumerate(ips):
        row = shared.get(address) or found.get(address)
        if isinstance(row, RangeFacts):
            continue
        if row is None or row.compute_id == compute_id:
            raise invalid("ips is not valid", f"ips[{index}]")
        if not row.public:
            raise invalid("ips is not valid", f"ips[{index}]")
    before = await share_queries.shared_to(context.db, compute_id)
    changed = set(before) ^ found.keys()
    owners = await addresses.find_all_held(context.db, context.account_id, changed)
    ids = {row.compute_id for row in (*found.values(), *owners.values())}
    ids |= {row.compute_id for row in shared.values()}
    await require_all(context, COMPUTE.name, ids, "read_write")
    involved = await _lock_all(context, ids | {compute_id})
    refused = await objections(context.db, "shared", list(found))
    for index, address in enumerate(ips):
        row = shared.get(address) or found[address]
        if row.region != involved[compute_id].region:
            raise invalid("ips is not valid", f"ips[{index}]")
        if address in refused:
            raise invalid(refused[address], f"ips[{index}]")
    await share_queries.share(context.db, compute_id, list(found))
    told = {compute_id} | {row.compute_id for row in owners.values()} if changed else set()
    # A range that is routed to it is its own already; clients name it all the same.
    others = [row for row in shared.values() if row.compute_id != compute_id]
    if await range_service.share(context, compute_id, others):
        told.add(compute_id)
    for each in sorted(told):
        await jobs.start(context, "ipaddress_update", each, involved[each].label)


async def _lock(context: Context, compute_id: int) -> InstanceFacts:
    """404; 400 while it is being made anew or deleted."""
    await hold(context.db, range_service.ORDER, context.account_id)
    facts, _ = await lock_turn(context, compute_id)
    check_open(facts)
    return facts


async def _lock_all(context: Context, ids: Collection[int]) -> dict[int, InstanceFacts]:
    """In one order, as others might lock some of them too."""
    found = {}
    for compute_id in sorted(ids):
        facts = await lock(context, compute_id)
        if facts.status == "deleting":
            raise invalid(f"Compute {compute_id} is being deleted, with its addresses")
        await find_turn(context, facts)
        check_open(facts)
        found[compute_id] = facts
    return found


async def _check(
    context: Context, facts: InstanceFacts, rows: Sequence[AddressRow], field: str | None = None
) -> None:
    """400 for what an instance cannot have; else it shows that from now on."""
    reason = rules.objection(Holding(facts.vcpus, tuple(rows)))
    if reason is not None:
        raise invalid(reason, field)
    await _show(context, facts.id, rows)


async def _show(context: Context, compute_id: int, rows: Sequence[AddressRow]) -> None:
    """What it has from now on, and is charged for."""
    await charge_addresses(context.db, compute_id, context.clock.now())
    await address_queries.set_ipv4(context.db, compute_id, [row.address for row in rows])


def _check_regions(region: str, assignments: Sequence[Assignment]) -> None:
    """400 for a region of one assignment that is not that of all."""
    problems = [
        Problem("Must be the region of the request", f"assignments[{index}].region")
        for index, each in enumerate(assignments)
        if each.region not in (None, region)
    ]
    if problems:
        raise invalid_fields(problems)


async def _check_targets(context: Context, ids: Collection[int]) -> None:
    """403 without a grant on an instance that gets something, 400 when there is no such one."""
    await require_all(context, COMPUTE.name, ids, "read_write")
    known = await labels(context.db, COMPUTE, context.account_id, ids)
    for compute_id in ids:
        if compute_id not in known:
            raise invalid(f"Invalid Compute ID {compute_id}")


def _names(assignments: Sequence[Assignment]) -> set[str]:
    return {each.address for each in assignments}


async def addresses_of(context: Context, compute_id: int) -> AddressesRow:
    """All addresses of an instance, by kind."""
    suffix = context.get(ReverseDns).suffix
    rows = await queries.of_instance(context.db, compute_id, suffix)
    slaac = next(row for row in rows if row["type"] == "ipv6")
    host = int(IPv6Address(slaac["address"])) & (1 << 64) - 1
    link_local = str(IPv6Address(_LINK_LOCAL | host))
    return {
        "ipv4": {
            "public": [row for row in rows if row["type"] == "ipv4" and row["public"]],
            "private": [row for row in rows if not row["public"]],
            "shared": await queries.shared_to(context.db, compute_id, suffix),
            "reserved": [],
            "vpc": await context.get(InstanceVpcs).addresses_of(context.db, compute_id),
        },
        "ipv6": {
            "slaac": slaac,
            "link_local": {**slaac, "address": link_local, "public": False, "rdns": None},
            "global": await range_queries.of_instance(context.db, compute_id),
        },
    }
