"""One address of the account's instances, and its name (spec B networking 4)."""

from dataclasses import dataclass
from ipaddress import IPv4Network, ip_address

from roost.core.addresses import queries as addresses
from roost.core.addresses.queries import BalancedAddress, HeldAddress
from roost.core.context import Context
from roost.core.entities.locks import lock_all
from roost.core.entities.queries import labels
from roost.core.events import log
from roost.core.grant_queries import Permission, permission
from roost.core.limits.check import AtOnce
from roost.errors import forbidden, invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.neighbours import InstanceVpcs, Nat
from roost.resources.reverse_dns import queries
from roost.resources.reverse_dns.entity import IP_ADDRESS
from roost.resources.reverse_dns.jobs import NAMES, RESOURCE, ReverseArgs
from roost.resources.reverse_dns.records import AddressNat, AddressRow
from roost.resources.reverse_dns.rules import default_name, zone_of
from roost.resources.reverse_dns.settings import ReverseDns
from roost.services import Services
from roost.store import Queries

V6_GATEWAY = "fe80::1"
V6_MASK = "ffff:ffff:ffff:ffff::"

_AT_ONCE = AtOnce(4)
"""Look-ups of a user, of at most two seconds each."""

PRIVATE = "A private address has no reverse DNS."
BALANCED = "The name of a NodeBalancer's address is its hostname."


@dataclass(frozen=True, slots=True)
class Named:
    """A name that an address may have."""

    address: str
    compute_id: int
    name: str | None


async def find(context: Context, text: str, allowed: tuple[Permission, ...]) -> AddressRow:
    """An address of the account's; 403 without a grant on what has it."""
    try:
        address = ip_address(text)
    except ValueError:
        raise not_found() from None
    found = await (_ipv4 if address.version == 4 else _ipv6)(context, str(address))
    compute_id = None if found is None else found["compute_id"]
    if found is None or compute_id is None:
        return await _balanced(context, str(address), allowed)
    await _check_granted(context, COMPUTE.name, compute_id, allowed)
    name = await queries.find_name(context.db, str(address), compute_id)
    if name is not None:
        found["rdns"] = name
    return found


async def _check_granted(
    context: Context, kind: str, entity_id: int, allowed: tuple[Permission, ...]
) -> None:
    identity = context.identity
    if identity.restricted:
        held = await permission(context.db, identity.user_id, kind, entity_id)
        if held not in allowed:
            raise forbidden()


async def _balanced(context: Context, address: str, allowed: tuple[Permission, ...]) -> AddressRow:
    """That of a NodeBalancer; 404."""
    held = await addresses.find_balanced(context.db, context.account_id, address)
    if held is None:
        raise not_found()
    await _check_granted(context, "nodebalancer", held.nodebalancer_id, allowed)
    return _row(held, default_name(held.address, context.get(ReverseDns).suffix), None, None)


async def check_name(context: Context, row: AddressRow, name: str | None) -> Named:
    """Raises 400 unless the name resolves to the address; while no transaction is open."""
    if not row["public"]:
        raise invalid(PRIVATE)
    address, compute_id = row["address"], row["compute_id"]
    if compute_id is None:
        raise invalid(BALANCED, "rdns")
    if name is not None:
        with _AT_ONCE.one(context.identity.user_id):
            if not await context.get(ReverseDns).resolves(name, address):
                raise invalid(f"{name} must resolve to {address}", "rdns")
    return Named(address, compute_id, name)


async def set_name(context: Context, named: Named) -> None:
    """Null restores the default. 404 when another instance or account has the address by now."""
    own = await lock_all(context.db, COMPUTE, context.account_id, [named.compute_id])
    row = await find(context, named.address, ("read_write",))
    if not own or row["compute_id"] != named.compute_id:
        raise not_found()
    await queries.begin_change(context.db)
    await queries.set_name(context.db, named.address, named.compute_id, named.name)
    zone = zone_of(named.address, context.get(ReverseDns).pools)
    if zone is not None:
        await queries.set_changed(context.db, zone)
    held_by = await labels(context.db, COMPUTE, context.account_id, [named.compute_id])
    instance = COMPUTE.entity(named.compute_id, held_by.get(named.compute_id))
    address = IP_ADDRESS.entity(None, named.address)
    await log.start(context, NAMES, ReverseArgs(), address, instance)


async def drop_name(db: Queries, services: Services, address: str) -> None:
    """Whoever has the address next finds its default name."""
    await queries.begin_change(db)
    if not await queries.drop_name(db, address):
        return
    zone = zone_of(address, services.get(ReverseDns).pools)
    if zone is not None:
        await queries.set_changed(db, zone)
        queue = services.get(JobQueue)
        await queue.enqueue(db, NAMES, ReverseArgs(), resource=RESOURCE)


async def move_name(db: Queries, address: str, compute_id: int) -> None:
    """The name follows an address to another instance of the account."""
    await queries.begin_change(db)
    await queries.move_name(db, address, compute_id)


async def _ipv4(context: Context, address: str) -> AddressRow | None:
    held = await addresses.find_held(context.db, context.account_id, address)
    if held is None:
        return None
    suffix = context.get(ReverseDns).suffix
    nat = await context.get(InstanceVpcs).nat_of(context.db, held.compute_id, held.address)
    name = default_name(held.address, suffix) if held.public else None
    return _row(held, name, held.compute_id, nat)


def _row(
    held: HeldAddress | BalancedAddress,
    name: str | None,
    compute_id: int | None,
    nat: Nat | None,
) -> AddressRow:
    return {
        "address": held.address,
        "gateway": held.gateway if held.public else None,
        "subnet_mask": str(IPv4Network((0, held.prefix)).netmask),
        "prefix": held.prefix,
        "type": "ipv4",
        "public": held.public,
        "rdns": name,
        "compute_id": compute_id,
        "region": held.region,
        "vpc_nat_1_1": None if nat is None else _nat_row(nat),
    }


def _nat_row(nat: Nat) -> AddressNat:
    return {"address": nat.address, "subnet_id": nat.subnet_id, "vpc_id": nat.vpc_id}


async def _ipv6(context: Context, address: str) -> AddressRow | None:
    """That which a guest gives itself."""
    found = await addresses.find_by_ipv6(context.db, context.account_id, address)
    if found is None:
        return None
    compute_id, region = found
    return {
        "address": address,
        "gateway": V6_GATEWAY,
        "subnet_mask": V6_MASK,
        "prefix": 64,
        "type": "ipv6",
        "public": True,
        "rdns": None,
        "compute_id": compute_id,
        "region": region,
        "vpc_nat_1_1": None,
    }
