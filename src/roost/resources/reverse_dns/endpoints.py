"""What the API offers: addresses of instances and their names (spec B networking)."""

from roost.resources.reverse_dns import address_service
from roost.resources.reverse_dns.address_service import Named
from roost.resources.reverse_dns.bodies import UpdateAddress
from roost.resources.reverse_dns.records import AddressRow
from roost.web.call import Call
from roost.web.registry import Rate, endpoint

_ONE = "/networking/ips/{address}"


@endpoint("GET", _ONE, scopes=("ips:read_only",), returns=AddressRow)
async def view_address(call: Call) -> AddressRow:
    """View an address of an instance.

    Addresses of your own instances only.
    """
    return await address_service.find(call, call.text("address"), ("read_only", "read_write"))


async def check_name(call: Call, body: UpdateAddress) -> Named:
    """Raises 400 unless the name resolves to the address (spec B networking 4)."""
    row = await address_service.find(call, call.text("address"), ("read_write",))
    return await address_service.check_name(call, row, body.rdns)


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
    await address_service.set_name(call, named)
    return await address_service.find(call, call.text("address"), ("read_write",))
