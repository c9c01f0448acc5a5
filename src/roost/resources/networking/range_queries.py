"""SQL of IPv6 ranges as the API shows them."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import replace

from pydantic import TypeAdapter

from roost.resources.networking.records import RangeRow
from roost.store import Queries
from roost.store.paging import Column, Listing
from roost.store.query import query

_ROWS = TypeAdapter(list[RangeRow])

_TARGET = "split_part(i.ipv6, '/', 1)"

RANGES = Listing(
    record=f"""
        host(r.network) as range, masklen(r.network) as prefix, r.region,
        {_TARGET} as route_target
        """,
    source="ipv6_range r join compute_instance i on i.id = r.compute_id",
    scope="r.account_id = $1",
    key="host(r.network)",
    granted=("'compute'", "r.compute_id"),
    columns={},
)

VIEWED = replace(
    RANGES,
    record="""
        host(r.network) as range, masklen(r.network) as prefix, r.region,
        exists (select from ipv6_range_share s where s.network = r.network) as is_bgp,
        array(select r.compute_id union all select x.compute_id from (
            select s.compute_id from ipv6_range_share s where s.network = r.network
            order by s.compute_id) x) as computes
        """,
)

POOLS = Listing(
    record="""
        host(p.cidr) as range, masklen(p.cidr) as prefix, p.region, null as route_target
        """,
    source="ip_pool p",
    scope="p.kind = 'ipv6'",
    key="p.cidr",
    columns={"region": Column("p.region", "text")},
)


async def of_instance(db: Queries, compute_id: int) -> list[RangeRow]:
    """Those that are routed to an instance."""
    rows = await db.fetch(
        f"select {RANGES.record} from {RANGES.source} where r.compute_id = $1", compute_id
    )
    return _ROWS.validate_python(list(map(dict, rows)))


@query(f"select i.id from compute_instance i where i.account_id = $1 and {_TARGET} = $2")
async def target(db: Queries, account_id: int, address: str) -> int | None:
    """The instance of the account that has this SLAAC address."""
