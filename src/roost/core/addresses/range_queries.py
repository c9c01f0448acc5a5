"""SQL of IPv6 ranges: networks that are routed to instances."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import TypeAlias

from roost.store import Queries
from roost.store.query import query

Networks: TypeAlias = frozenset[IPv6Network]


@dataclass(frozen=True, slots=True)
class Uses:
    """From which ranges guests may send."""

    routed: Mapping[int, Networks]
    """By instance; others have none."""
    sharing: Mapping[int, Networks]

    def own(self, compute_id: int) -> Networks:
        return self.routed.get(compute_id, frozenset())

    def shared(self, compute_id: int) -> Networks:
        """Those of others."""
        return self.sharing.get(compute_id, frozenset())


async def used_by(db: Queries, compute_ids: Collection[int]) -> Uses:
    """Those that instances have, and those that others share with them."""
    rows = await db.fetch(
        """
        select compute_id, array_agg(network::text) as networks, true as routed from ipv6_range
        where compute_id = any($1::bigint[]) group by compute_id
        union all
        select compute_id, array_agg(network::text), false from ipv6_range_share
        where compute_id = any($1::bigint[]) group by compute_id
        """,
        list(compute_ids),
    )
    found: tuple[dict[int, Networks], dict[int, Networks]] = {}, {}
    for row in rows:
        networks = frozenset(map(IPv6Network, row["networks"]))
        found[0 if row["routed"] else 1][row["compute_id"]] = networks
    return Uses(*found)


@dataclass(frozen=True, slots=True)
class RangeFacts:
    network: IPv6Network
    region: str
    account_id: int
    compute_id: int
    shared: bool
    leaving: bool
    """Whether its instance is being deleted, and the range with it."""


async def of_account(db: Queries, account_id: int) -> list[RangeFacts]:
    rows = await db.fetch(
        """
        select network::text, r.region, r.account_id, compute_id, i.status = 'deleting' as leaving,
            exists (select from ipv6_range_share s where s.network = r.network) as shared
        from ipv6_range r join compute_instance i on i.id = r.compute_id where r.account_id = $1
        """,
        account_id,
    )
    return [RangeFacts(**{**row, "network": IPv6Network(row["network"])}) for row in rows]


@query("select pg_advisory_xact_lock(hashtext('ranges of ' || $1))")
async def lock_region(db: Queries, region: str) -> None:
    """One transaction at a time hands out ranges of a region."""


async def next_free(db: Queries, pool: IPv6Network, prefix: int) -> IPv6Network | None:
    """The lowest network of this size in a pool that overlaps nothing that somebody has, or has
    yet to let go of.

    It begins the pool, or is the first of its size behind something that is taken.
    """
    found = await db.fetchval(
        """
        with taken as materialized (
            select network::inet as network from ipv6_range where network <<= $1::text::cidr
            union
            select network(address)::inet from ip_leaving where address <<= $1::text::inet),
        behind as (
            select broadcast(set_masklen(network, least(masklen(network), $2))) + 1 as start
            from taken),
        candidates as (
            select network($1::text::inet) as start
            union
            select network(start) from behind where start << $1::text::inet)
        select network(set_masklen(c.start::inet, $2))::text from candidates c
        where not exists (select from taken t
            where t.network && network(set_masklen(c.start::inet, $2))::inet)
        order by c.start limit 1
        """,
        str(pool),
        prefix,
    )
    return None if found is None else IPv6Network(found)


async def insert(
    db: Queries, network: IPv6Network, region: str, account_id: int, compute_id: int
) -> None:
    await db.execute(
        """
        insert into ipv6_range (network, region, account_id, compute_id)
        values ($1::text::cidr, $2, $3, $4)
        """,
        str(network),
        region,
        account_id,
        compute_id,
    )


async def retarget(db: Queries, network: IPv6Network, compute_id: int) -> None:
    await db.execute(
        "update ipv6_range set compute_id = $2 where network = $1::text::cidr",
        str(network),
        compute_id,
    )


async def delete(db: Queries, network: IPv6Network) -> None:
    await db.execute("delete from ipv6_range where network = $1::text::cidr", str(network))


async def shared_to(db: Queries, compute_id: int) -> set[IPv6Network]:
    """Those of others from which the instance may send."""
    rows = await db.fetch(
        "select network::text from ipv6_range_share where compute_id = $1", compute_id
    )
    return {IPv6Network(row["network"]) for row in rows}


async def share(db: Queries, compute_id: int, networks: Collection[IPv6Network]) -> None:
    """Exactly these from now on; what it could send from before, it leaves."""
    wanted = list(map(str, networks))
    await db.execute(
        """
        with ended as (
            delete from ipv6_range_share
            where compute_id = $1 and network <> all($2::text[]::cidr[]) returning network)
        insert into ip_leaving (address, compute_id) select network::inet, $1 from ended
        """,
        compute_id,
        wanted,
    )
    await db.execute(
        """
        insert into ipv6_range_share (network, compute_id)
        select network::cidr, $1 from unnest($2::text[]) as network on conflict do nothing
        """,
        compute_id,
        wanted,
    )


async def stop_sharing(db: Queries, compute_id: int) -> list[int]:
    """End all sharing of ranges that are routed to the instance; returns those who could send from
    them."""
    rows = await db.fetch(
        """
        with ended as (
            delete from ipv6_range_share s using ipv6_range r
            where r.network = s.network and r.compute_id = $1
            returning s.network, s.compute_id),
        left_over as (
            insert into ip_leaving (address, compute_id)
            select network::inet, compute_id from ended)
        select distinct compute_id from ended order by compute_id
        """,
        compute_id,
    )
    return [row["compute_id"] for row in rows]
