"""What the API offers: addresses of instances and their names (spec B networking)."""

from dataclasses import dataclass
from ipaddress import IPv4Network, ip_address

from roost.core.entities.queries import labels
from roost.core.events import log
from roost.core.grant_queries import Permission, permission
from roost.core.limits.check import AtOnce
from roost.errors import forbidden, invalid, not_found
from roost.resources.addresses import queries as addresses
from roost.resources.compute import queries as compute
from roost.resources.compute.neighbours import InstanceVpcs, Nat
from roost.resources.compute.queries import COMPUTE
from roost.resources.reverse_dns import queries
from roost.resources.reverse_dns.bodies import UpdateAddress
from roost.resources.reverse_dns.jobs import NAMES, ReverseArgs
from roost.resources.reverse_dns.queries import IP_ADDRESS
from roost.resources.reverse_dns.records import AddressNat, AddressRow
from roost.resources.reverse_dns.rules import default_name, zone_of
from roost.resources.reverse_dns.settings import ReverseDns
from roost.web.call import Call
from roost.web.registry import Rate, endpoint

_ONE = "/networking/ips/{address}"
_V6_GATEWAY = "fe80::1"
_V6_MASK = "ffff:ffff:ffff:ffff::"

_AT_ONCE = AtOnce(4)
"""Look-ups of a user, of at most two seconds each."""

PRIVATE = "A private address has no reverse DNS."


@endpoint("GET", _ONE, scopes=("ips:read_only",), returns=AddressRow)
async def view_address(call: Call) -> AddressRow:
    """View an address of an instance.

    Addresses of your own instances only.
    """
    return await _find(call, ("read_only", "read_write"))


@dataclass(frozen=True, slots=True)
class Named:
    """A name that an address may have."""

    address: str
    compute_id: int
    name: str | None


async def check_name(call: Call, body: UpdateAddress) -> Named:
    """Raises 400 unless the name resolves to the address (spec B networking 4)."""
    row = await _find(call, ("read_write",))
    if not row["public"]:
        raise invalid(PRIVATE)
    name, address = body.rdns, row["address"]
    if name is not None:
        with _AT_ONCE.one(call.identity.user_id):
            if not await call.get(ReverseDns).resolves(name, address):
                raise invalid(f"{name} must resolve to {address}", "rdns")
    return Named(address, row["compute_id"], name)


@endpoint(
    "PUT",
    _ONE,
    scopes=("ips:read_write",),
    body=UpdateAddress,
    prepare=check_name,
    of=view_address,
    returns=AddressRow,
    events=("ipaddress_update",),
    rate=Rate(100, 60),
)
async def update_address(call: Call, named: Named) -> AddressRow:
    """Set the reverse DNS of an address.

    The name must already lead to the address (A or AAAA), else it is refused. Null restores
    the default of a public IPv4 address.
    """
    row = await _find(call, ("read_write",))
    if row["compute_id"] != named.compute_id:
        raise not_found()
    await queries.begin_change(call.db)
    await queries.set_name(call.db, named.address, named.compute_id, named.name)
    zone = zone_of(named.address, call.get(ReverseDns).pools)
    if zone is not None:
        await queries.set_changed(call.db, zone)
    held_by = await labels(call.db, COMPUTE, call.account_id, [named.compute_id])
    instance = COMPUTE.entity(named.compute_id, held_by.get(named.compute_id))
    await log.start(call, NAMES, ReverseArgs(), IP_ADDRESS.entity(None, named.address), instance)
    return await _find(call, ("read_write",))


async def _find(call: Call, allowed: tuple[Permission, ...]) -> AddressRow:
    """An address of the account's instances; 403 without a grant on the instance."""
    try:
        address = ip_address(call.text("address"))
    except ValueError:
        raise not_found() from None
    found = await (_ipv4 if address.version == 4 else _ipv6)(call, str(address))
    if found is None:
        raise not_found()
    identity, compute_id = call.identity, found["compute_id"]
    if identity.restricted:
        held = await permission(call.db, identity.user_id, COMPUTE.name, compute_id)
        if held not in allowed:
            raise forbidden()
    name = await queries.find_name(call.db, str(address), compute_id)
    if name is not None:
        found["rdns"] = name
    return found


async def _ipv4(call: Call, address: str) -> AddressRow | None:
    held = await addresses.find_held(call.db, call.account_id, address)
    if held is None:
        return None
    suffix = call.get(ReverseDns).suffix
    nat = await call.get(InstanceVpcs).nat_of(call.db, held.compute_id, held.address)
    return {
        "address": held.address,
        "gateway": held.gateway if held.public else None,
        "subnet_mask": str(IPv4Network((0, held.prefix)).netmask),
        "prefix": held.prefix,
        "type": "ipv4",
        "public": held.public,
        "rdns": default_name(held.address, suffix) if held.public else None,
        "compute_id": held.compute_id,
        "region": held.region,
        "vpc_nat_1_1": None if nat is None else _nat_row(nat),
    }


def _nat_row(nat: Nat) -> AddressNat:
    return {"address": nat.address, "subnet_id": nat.subnet_id, "vpc_id": nat.vpc_id}


async def _ipv6(call: Call, address: str) -> AddressRow | None:
    """That which a guest gives itself."""
    found = await compute.find_by_ipv6(call.db, call.account_id, address)
    if found is None:
        return None
    compute_id, region = found
    return {
        "address": address,
        "gateway": _V6_GATEWAY,
        "subnet_mask": _V6_MASK,
        "prefix": 64,
        "type": "ipv6",
        "public": True,
        "rdns": None,
        "compute_id": compute_id,
        "region": region,
        "vpc_nat_1_1": None,
    }
