"""SQL of IPv6 ranges: networks that are routed to instances."""

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Network

from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Uses:
    """Which guests may send from which ranges."""

    rows: frozenset[tuple[int, IPv6Network, bool]]
    """The instance, the range, and whether it is routed there."""

    def own(self, compute_id: int) -> frozenset[IPv6Network]:
        return frozenset(each for key, each, routed in self.rows if key == compute_id and routed)

    def shared(self, compute_id: int) -> frozenset[IPv6Network]:
        return frozenset(
            each for key, each, routed in self.rows if key == compute_id and not routed
        )


async def used_by(db: Queries, compute_ids: Collection[int]) -> Uses:
    """Those that instances have, and those that others share with them."""
    rows = await db.fetch(
        """
        select compute_id, network::text, true as routed from ipv6_range
        where compute_id = any($1::bigint[])
        union all
        select compute_id, network::text, false from ipv6_range_share
        where compute_id = any($1::bigint[])
        """,
        list(compute_ids),
    )
    return Uses(
        frozenset((row["compute_id"], IPv6Network(row["network"]), row["routed"]) for row in rows)
    )


@dataclass(frozen=True, slots=True)
class RangeFacts:
    network: IPv6Network
    region: str
    account_id: int
    compute_id: int
    shared: bool


async def of_account(db: Queries, account_id: int) -> list[RangeFacts]:
    rows = await db.fetch(
        """
        select network::text, region, account_id, compute_id, exists (
            select from ipv6_range_share s where s.network = r.network) as shared
        from ipv6_range r where account_id = $1
        """,
        account_id,
    )
    return [RangeFacts(**{**row, "network": IPv6Network(row["network"])}) for row in rows]


async def lock_region(db: Queries, region: str) -> None:
    """One transaction at a time hands out ranges of a region."""
    await db.execute("select pg_advisory_xact_lock(hashtext('ranges of ' || $1))", region)


async def taken(db: Queries, pool: IPv6Network) -> list[IPv6Network]:
    """What of a pool somebody has, or has yet to let go of."""
    rows = await db.fetch(
        """
        select network::text from ipv6_range where network <<= $1::text::cidr
        union
        select network(address)::text from ip_leaving where address <<= $1::text::inet
        """,
        str(pool),
    )
    return [IPv6Network(row["network"]) for row in rows]


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
    """Of what is routed to the instance; the others that could send from it."""
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
