"""SQL of networks that have guests on several hosts of a region."""

from collections.abc import Sequence
from dataclasses import dataclass

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class RemoteInterface:
    """In a VPC, of an instance on another host."""

    vpc_id: int
    host: str
    address: str
    ip_ranges: Sequence[str]


@dataclass(frozen=True, slots=True)
class RemoteInstance:
    """On another host."""

    id: int
    host: str
    ipv6: str | None


@query("select id, host, ipv6 from compute_instance where region = $1 and host <> $2")
async def instances(db: Queries, region: str, host: str) -> list[RemoteInstance]:
    """Those of a region's other hosts."""


async def vlans(db: Queries, region: str, host: str) -> list[tuple[int, str]]:
    """VLANs that instances of a host are in, and other hosts whose instances are in them, too."""
    rows = await db.fetch(
        """
        with own as (
            select distinct f.vlan_id
            from compute_instance i join compute_config c on c.compute_id = i.id
            join compute_interface f on f.config_id = c.id
            where i.host = $2 and i.region = $1 and f.vlan_id is not null)
        select distinct f.vlan_id, i.host
        from own join compute_interface f using (vlan_id)
        join compute_config c on c.id = f.config_id join compute_instance i on i.id = c.compute_id
        where i.host <> $2
        """,
        region,
        host,
    )
    return [(row["vlan_id"], row["host"]) for row in rows]


@query("""
    with own as (
        select distinct f.vpc_id
        from compute_instance i join compute_config c on c.compute_id = i.id
        join compute_interface f on f.config_id = c.id
        where i.host = $2 and i.region = $1 and f.vpc_id is not null)
    select f.vpc_id, i.host, host(f.address) as address, f.ip_ranges
    from own join compute_interface f using (vpc_id)
    join compute_config c on c.id = f.config_id join compute_instance i on i.id = c.compute_id
    where i.host <> $2 and f.address is not null
    """)
async def vpc_interfaces(db: Queries, region: str, host: str) -> list[RemoteInterface]:
    """What instances of other hosts have, by any of their configs, in VPCs that instances of a host
    are in."""
