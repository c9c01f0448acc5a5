"""Looking up both ends of a packet, of which the caller sees only what is theirs."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Network, ip_address, ip_network

from roost.core import account_queries as accounts
from roost.core.access import require
from roost.core.addresses.range_queries import used_by
from roost.core.addresses.service import held_by
from roost.core.addresses.share_queries import shared_with
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.errors import invalid
from roost.resources.compute.entity import COMPUTE
from roost.resources.firewalls.packets import queries
from roost.resources.firewalls.packets.bodies import ExplainPacket
from roost.resources.firewalls.packets.records import Direction, PacketPathRow, PacketStepRow
from roost.resources.firewalls.packets.rules import Guard, Guest, Packet, Vpc, path, path_in_vpc
from roost.resources.firewalls.queries import FIREWALL
from roost.resources.firewalls.records import rule_set, rules_of
from roost.resources.firewalls.rules import filtered_addresses
from roost.resources.vpcs.address_queries import Held, held_in
from roost.resources.vpcs.queries import label_of, subnets_of
from roost.threads import COMPUTING


async def explain(context: Context, body: ExplainPacket) -> PacketPathRow:
    """What becomes of the packet.

    Raises 403 for an instance or a firewall at either end that the user may not see, 400 when no
    end is an instance of the account.
    """
    packet = Packet(body.source, body.destination, body.protocol, body.port)
    if body.vpc_id is not None:
        return await _explain_in_vpc(context, packet, body.vpc_id, body.compute_id)
    ends = body.compute_id, None
    sender, receiver = [
        await _guest(context, given or await _holder(context, address))
        for given, address in zip(ends, (packet.source, packet.destination), strict=True)
    ]
    if sender is None and receiver is None:
        reason = "Neither source nor destination is an address of an instance of yours"
        raise invalid(reason, "source")
    return _path_row(await COMPUTING.run(path, packet, sender, receiver))


async def _explain_in_vpc(
    context: Context, packet: Packet, vpc_id: int, compute_id: int | None
) -> PacketPathRow:
    held = await held_in(context.db, vpc_id)
    vpc = await _vpc(context, vpc_id, held, packet.source)
    sender = await _guest_in_vpc(context, held, packet.source, compute_id)
    receiver = await _guest_in_vpc(context, held, packet.destination)
    if receiver is None and vpc.public is not None:
        receiver = await _guest(context, await _holder(context, packet.destination))
    return _path_row(await COMPUTING.run(path_in_vpc, packet, vpc, sender, receiver))


async def _vpc(context: Context, vpc_id: int, held: list[Held], source: str) -> Vpc:
    label, subnets = await label_of(context.db, vpc_id), await subnets_of(context.db, [vpc_id])
    ranges = [IPv4Network(each) for row in held for each in row.ip_ranges]
    networks = (*(each.ipv4 for each in subnets), *ranges)
    return Vpc(label, networks, next((row.nat for row in held if row.address == source), None))


async def _guest_in_vpc(
    context: Context, held: list[Held], address: str, compute_id: int | None = None
) -> Guest | None:
    """Whoever has the address there, or this one, with what it has there."""
    own = [
        row
        for row in held
        if row.compute_id == compute_id
        or (compute_id is None and (row.address == address or _is_in(address, row.ip_ranges)))
    ]
    guest = await _guest(context, own[0].compute_id if own else None)
    if guest is None:
        return None
    addresses = frozenset(each for row in own for each in (row.address, *row.ip_ranges))
    return replace(guest, addresses=addresses)


def _is_in(address: str, networks: Sequence[str]) -> bool:
    return any(ip_address(address) in ip_network(network) for network in networks)


def _path_row(steps: list[PacketStepRow]) -> PacketPathRow:
    return {"passes": steps[-1]["passes"], "reason": steps[-1]["reason"], "steps": steps}


async def _holder(context: Context, address: str) -> int | None:
    return await queries.holder(context.db, context.account_id, address)


async def _guest(context: Context, compute_id: int | None) -> Guest | None:
    if compute_id is None:
        return None
    await require(context, COMPUTE.name, compute_id, "read_only")
    row = await queries.find_guest(context.db, context.account_id, compute_id)
    if row is None:
        return None
    catalog, db = context.get(Catalog), context.db
    region, ranges = catalog.find_region(row.region), await used_by(db, [row.id])
    held = [str(each.interface.ip) for each in await held_by(db, row.id)]
    shared = (await shared_with(db, [row.id])).get(row.id, [])
    opened = (await accounts.created(db, [context.account_id]))[context.account_id]
    return Guest(
        row.id,
        row.label,
        row.region,
        row.status,
        filtered_addresses((*held, *shared), row.ipv6, ranges.own(row.id) | ranges.shared(row.id)),
        mail_restricted=catalog.restricts_mail(opened),
        private=() if region is None else tuple(region.private_ipv4),
        public=() if region is None else tuple(pool.cidr for pool in region.public_ipv4),
        firewall=await _guard(context, row.id),
    )


async def _guard(context: Context, compute_id: int) -> Guard | None:
    row = await queries.guard_of(context.db, compute_id)
    if row is None:
        return None
    await require(context, FIREWALL.name, row.id, "read_only")
    rules, record = await COMPUTING.run(rule_set, row.rules), rules_of(row.rules)
    labels: dict[Direction, tuple[str | None, ...]] = {
        "inbound": tuple(rule.get("label") for rule in record["inbound"]),
        "outbound": tuple(rule.get("label") for rule in record["outbound"]),
    }
    return Guard(row.id, row.label, rules, labels)
