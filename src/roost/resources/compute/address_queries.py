"""SQL of the addresses that instances show."""

from collections.abc import Collection

from roost.store import Queries
from roost.store.query import query


@query("select id, ipv4 from compute_instance where id > $1 order by id limit $2")
async def ipv4_by_id(db: Queries, after: int, limit: int) -> dict[int, list[str]]:
    """The IPv4 addresses that the next instances show."""


@query("update compute_instance set ipv4 = $2 where id = $1")
async def set_ipv4(db: Queries, compute_id: int, addresses: list[str]) -> None: ...


@query("update compute_instance set ipv4 = $2, ipv6 = $3 where id = $1")
async def set_addresses(db: Queries, compute_id: int, ipv4: list[str], ipv6: str) -> None: ...


@query("""
    select distinct host(a.address) as address
    from ip_address a join compute_interface f on f.nat_1_1 = a.address
    join compute_config c on c.id = f.config_id and c.compute_id = a.compute_id
    where a.address = any($1::text[]::inet[])
    """)
async def natted(db: Queries, addresses: Collection[str]) -> set[str]:
    """Those of the addresses that stand for one in a VPC, in any config of their instances."""
