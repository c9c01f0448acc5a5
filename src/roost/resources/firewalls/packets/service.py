"""Looking up both ends of a packet, of which the caller sees only what is theirs."""

from roost.core.access import require
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.errors import invalid
from roost.resources.account import queries as accounts
from roost.resources.addresses.range_queries import used_by
from roost.resources.addresses.service import held_by
from roost.resources.addresses.share_queries import shared_with
from roost.resources.compute.queries import COMPUTE
from roost.resources.firewalls.packets import queries
from roost.resources.firewalls.packets.bodies import ExplainPacket
from roost.resources.firewalls.packets.records import Direction, PacketPathRow
from roost.resources.firewalls.packets.rules import Guard, Guest, Packet, path
from roost.resources.firewalls.queries import FIREWALL
from roost.resources.firewalls.records import rule_set, rules_of
from roost.resources.firewalls.rules import filtered_addresses
from roost.threads import COMPUTING


async def explain(context: Context, body: ExplainPacket) -> PacketPathRow:
    """What becomes of the packet.

    Raises 403 for an instance or a firewall at either end that the user may not see, 400 when no
    end is an instance of the account.
    """
    packet = Packet(body.source, body.destination, body.protocol, body.port)
    ends = body.compute_id, None
    sender, receiver = [
        await _guest(context, given or await _holder(context, address))
        for given, address in zip(ends, (packet.source, packet.destination), strict=True)
    ]
    if sender is None and receiver is None:
        reason = "Neither source nor destination is an address of an instance of yours"
        raise invalid(reason, "source")
    steps = await COMPUTING.run(path, packet, sender, receiver)
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
