"""SQL of addresses that move between instances: who shares them, and who has yet to let go."""

from collections.abc import Collection

from roost.store import Queries
from roost.store.query import query


@query("""
    select compute_id, array_agg(distinct host(address)) as addresses from (
        select compute_id, address from ip_share where compute_id = any($1::bigint[])
        union all
        select a.compute_id, s.address
        from ip_share s join ip_address a on a.address = s.address
        where a.compute_id = any($1::bigint[])) shared
    group by compute_id
    """)
async def shared_with(db: Queries, compute_ids: Collection[int]) -> dict[int, list[str]]:
    """By instance what several guests may use of which it is one: addresses of its own, and of
    others."""


@query("""
    select host(address) as address, array_agg(compute_id order by compute_id) as ids
    from ip_share where address = any($1::text[]::inet[]) group by address
    """)
async def sharers(db: Queries, addresses: Collection[str]) -> dict[str, list[int]]:
    """By address the instances that may take it over; what nobody shares is left out."""


@query("select host(address) as address from ip_share where compute_id = $1 order by address")
async def shared_to(db: Queries, compute_id: int) -> list[str]:
    """The addresses of others that the instance may take over."""


async def share(db: Queries, compute_id: int, addresses: Collection[str]) -> None:
    """Exactly these from now on; what it could take over before, it leaves."""
    await db.execute(
        """
        with ended as (
            delete from ip_share where compute_id = $1 and address <> all($2::text[]::inet[])
            returning address)
        insert into ip_leaving (address, compute_id) select address, $1 from ended
        """,
        compute_id,
        list(addresses),
    )
    await db.execute(
        """
        insert into ip_share (address, compute_id)
        select address::inet, $1 from unnest($2::text[]) as address on conflict do nothing
        """,
        compute_id,
        list(addresses),
    )


async def stop_sharing(db: Queries, compute_id: int) -> list[int]:
    """End all sharing of the instance's own addresses; returns those who could take one over."""
    rows = await db.fetch(
        """
        with ended as (
            delete from ip_share s using ip_address a
            where a.address = s.address and a.compute_id = $1 returning s.address, s.compute_id),
        left_over as (
            insert into ip_leaving (address, compute_id) select address, compute_id from ended)
        select distinct compute_id from ended order by compute_id
        """,
        compute_id,
    )
    return [row["compute_id"] for row in rows]


@query("select host(address) from nodebalancer_node where address = any($1::text[]::inet[])")
async def balanced(db: Queries, addresses: Collection[str]) -> set[str]:
    """Those to which NodeBalancers send connections."""


async def leave(db: Queries, compute_id: int, address: str) -> None:
    """The address is not free before the engine of the instance has let go of it."""
    await db.execute(
        "insert into ip_leaving (address, compute_id) values ($1::text::inet, $2)",
        address,
        compute_id,
    )


@query("""
    select compute_id, array_agg(id) as ids from ip_leaving
    where compute_id = any($1::bigint[]) group by compute_id
    """)
async def leaving(db: Queries, compute_ids: Collection[int]) -> dict[int, list[int]]:
    """By instance the ids of the rows that say what it is to let go of."""


@query("""
    select distinct compute_id from ip_leaving
    where compute_id > $1 and ($2::bigint is null or compute_id <= $2)
    """)
async def all_leaving(db: Queries, after: int, last: int | None) -> set[int]:
    """The instances of those with ids `after` to `last` that are to let go of something."""


@query("delete from ip_leaving where id = any($1::bigint[])")
async def has_left(db: Queries, ids: Collection[int]) -> None:
    """Engines have let go."""
