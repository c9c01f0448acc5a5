"""What the API offers: addresses that instances get, give away and share (spec B networking)."""

from roost.errors import invalid, not_found
from roost.resources.compute.locks import check_exists
from roost.resources.networking import queries, service
from roost.resources.networking.bodies import (
    AllocateAddress,
    AssignAddresses,
    NewAddress,
    ShareAddresses,
)
from roost.resources.networking.records import AddressesRow
from roost.resources.reverse_dns import address_service
from roost.resources.reverse_dns.address_service import Named
from roost.resources.reverse_dns.bodies import UpdateAddress
from roost.resources.reverse_dns.records import AddressRow
from roost.resources.reverse_dns.settings import ReverseDns
from roost.web.call import Call
from roost.web.grants import Listed, Read, Write
from roost.web.registry import DryRun, Page, Rate, endpoint, renamed

_ALL = "/networking/ips"
_OF_INSTANCE = "/compute/instances/{computeId:int}/ips"
_ONE = f"{_OF_INSTANCE}/{{address}}"
_WRITE = ("ips:read_write", "computes:read_write")


@endpoint(
    "GET",
    _ALL,
    scopes=("ips:read_only",),
    grant=Listed("compute"),
    query={"skip_ipv6_rdns": "Whether `rdns` of IPv6 addresses is null; false by default."},
    returns=Page(AddressRow),
    filters=queries.ADDRESSES.columns,
)
async def list_addresses(call: Call) -> bytes:
    """List addresses.

    The public ones of all instances, IPv4 and IPv6; private ones are shown with their instances.
    """
    skips = (call.query or {}).get("skip_ipv6_rdns", "false")
    if skips not in ("true", "false"):
        raise invalid("Must be true or false", "skip_ipv6_rdns")
    listing = queries.WITHOUT_NAMES if skips == "true" else queries.ADDRESSES
    return await call.collection(listing, call.account_id, call.get(ReverseDns).suffix)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    body=AllocateAddress,
    returns=AddressRow,
    events=("compute_addip",),
    dry_run=DryRun(),
)
async def allocate_address(call: Call, body: AllocateAddress) -> AddressRow:
    """Allocate an address.

    The instance has it at once; its guest sends and gets with it when the event is finished.
    """
    address = await service.give(call, body.compute_id, body.public)
    return await address_service.find(call, address, ("read_write",))


@endpoint(
    "POST",
    f"{_ALL}/assign",
    scopes=_WRITE,
    body=AssignAddresses,
    events=("compute_addip", "compute_deleteip"),
)
async def assign_addresses(call: Call, body: AssignAddresses) -> None:
    """Assign addresses.

    They go to other instances of the region, all of them or none; names go with them. Each
    instance keeps at least one public IPv4 address, and has one private one at most. A shared
    address stays.
    """
    await service.assign(call, body.region, body.assignments)


assign_ipv4 = renamed(
    assign_addresses, "assign_ipv4", "/networking/ipv4/assign", "Assign IPv4 addresses."
)


@endpoint("POST", f"{_ALL}/share", scopes=_WRITE, body=ShareAddresses, events=("ipaddress_update",))
async def share_addresses(call: Call, body: ShareAddresses) -> None:
    """Share addresses.

    The instance may take over public addresses of others, as a failover service in it does by
    announcing them (gratuitous ARP). What it could take over before and is not named, it loses.
    """
    await service.share(call, body.compute_id, body.ips)


share_ipv4 = renamed(
    share_addresses, "share_ipv4", "/networking/ipv4/share", "Share IPv4 addresses."
)


@endpoint(
    "GET",
    _OF_INSTANCE,
    scopes=("computes:read_only",),
    grant=Read("compute"),
    returns=AddressesRow,
)
async def view_addresses(call: Call) -> AddressesRow:
    """View the addresses of a compute instance.

    All of them, by kind.
    """
    compute_id = await check_exists(call, call.number("computeId"))
    return await service.addresses_of(call, compute_id)


@endpoint(
    "POST",
    _OF_INSTANCE,
    scopes=("computes:read_write",),
    grant=Write("compute"),
    body=NewAddress,
    of=view_addresses,
    returns=AddressRow,
    events=("compute_addip",),
    dry_run=DryRun(),
)
async def allocate_address_of_instance(call: Call, body: NewAddress) -> AddressRow:
    """Allocate an address for a compute instance.

    The same as `POST /networking/ips`.
    """
    address = await service.give(call, call.number("computeId"), body.public)
    return await address_service.find(call, address, ("read_write",))


@endpoint("GET", _ONE, scopes=("computes:read_only",), grant=Read("compute"), returns=AddressRow)
async def view_address_of_instance(call: Call) -> AddressRow:
    """View an address of a compute instance.

    Also a private one.
    """
    return await _find(call)


async def _check_name(call: Call, body: UpdateAddress) -> Named:
    """Raises 400 unless the name resolves to the address (spec B networking 4)."""
    return await address_service.check_name(call, await _find(call), body.rdns)


@endpoint(
    "PUT",
    _ONE,
    scopes=("computes:read_write",),
    grant=Write("compute"),
    body=UpdateAddress,
    prepare=_check_name,
    of=view_address_of_instance,
    returns=AddressRow,
    events=("ipaddress_update",),
    rate=Rate(100, 60),
)
async def update_address_of_instance(call: Call, named: Named) -> AddressRow:
    """Set the reverse DNS of an address of a compute instance.

    The same as `PUT /networking/ips/{address}`.
    """
    await address_service.set_name(call, named)
    return await _find(call)


@endpoint(
    "DELETE",
    _ONE,
    scopes=("computes:read_write",),
    grant=Write("compute"),
    events=("compute_deleteip",),
    dry_run=DryRun(),
)
async def delete_address_of_instance(call: Call) -> None:
    """Delete an address of a compute instance.

    The guest loses it, and it is free when the event is finished. The last public IPv4 address
    and a shared one stay.
    """
    row = await _find(call)
    if row["type"] != "ipv4":
        raise invalid("The address that a guest gives itself cannot be deleted")
    await service.take_away(call, call.number("computeId"), row["address"])


async def _find(call: Call) -> AddressRow:
    """404 for an address of another instance."""
    row = await address_service.find(call, call.text("address"), ("read_only", "read_write"))
    if row["compute_id"] != call.number("computeId"):
        raise not_found()
    return row
