"""What the API offers: pools and ranges of IPv6 addresses (spec B networking)."""

from roost.resources.networking import range_service
from roost.resources.networking.bodies import CreateRange
from roost.resources.networking.range_queries import POOLS, RANGES, VIEWED
from roost.resources.networking.records import (
    CreatedRangeRow,
    PoolRow,
    RangeRow,
    ViewedRangeRow,
)
from roost.web.call import Call
from roost.web.grants import Listed
from roost.web.registry import DryRun, Page, endpoint

_READ = ("ips:read_only",)
_ALL = "/networking/ipv6/ranges"
_ONE = f"{_ALL}/{{range}}"


@endpoint(
    "GET",
    "/networking/ipv6/pools",
    scopes=_READ,
    returns=Page(PoolRow),
    filters=POOLS.columns,
)
async def list_ipv6_pools(call: Call) -> bytes:
    """List IPv6 pools.

    The networks in which guests give themselves an address, one for each region.
    """
    return await call.collection(POOLS)


@endpoint("GET", _ALL, scopes=_READ, grant=Listed("compute"), returns=Page(RangeRow))
async def list_ipv6_ranges(call: Call) -> bytes:
    """List IPv6 ranges.

    Those that are routed to instances of the account.
    """
    return await call.collection(RANGES, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=("ips:read_write", "computes:read_write"),
    body=CreateRange,
    returns=CreatedRangeRow,
    events=("ipv6pool_add",),
    dry_run=DryRun(),
)
async def create_ipv6_range(call: Call, body: CreateRange) -> CreatedRangeRow:
    """Create an IPv6 range.

    It is routed to the SLAAC address of an instance when the event is finished. An instance has
    one range at most, an account one in each region.
    """
    network, facts = await range_service.create(
        call, body.prefix_length, body.compute_id, body.route_target
    )
    return {"range": str(network), "route_target": (facts.ipv6 or "").partition("/")[0]}


@endpoint("GET", _ONE, scopes=("ips:read",), returns=ViewedRangeRow)
async def view_ipv6_range(call: Call) -> bytes:
    """View an IPv6 range.

    By its first address. The first of its instances is that to which it is routed; it is shared
    with the others.
    """
    return await call.record(call.text("range"), VIEWED, call.account_id)


@endpoint(
    "DELETE",
    _ONE,
    scopes=("ips:read_write",),
    events=("ipv6pool_delete",),
    dry_run=DryRun(),
)
async def delete_ipv6_range(call: Call) -> None:
    """Delete an IPv6 range that is not shared.

    Others can get it when the event is finished.
    """
    await range_service.delete(call, call.text("range"))
