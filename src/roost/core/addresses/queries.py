"""SQL of IP addresses and their pools."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query

_LAYOUT = 256
"""Addresses of a pool that become rows at a time."""


@dataclass(frozen=True, slots=True)
class AddressRow:
    address: str
    prefix: int
    gateway: str | None
    public: bool


@dataclass(frozen=True, slots=True)
class HeldAddress(AddressRow):
    """An address that an instance has."""

    region: str
    compute_id: int


@query("""
    with free as (
        select f.address, p.gateway from ip_address f
            join ip_pool p on p.region = $1 and p.cidr >> f.address
        where f.region = $1 and f.public = $2 and f.account_id is null
            and p.gateway is distinct from f.address
            and not exists (select from ip_leaving l where l.address = f.address)
        order by f.released nulls first, f.address limit 1 for update of f skip locked)
    update ip_address a set account_id = $3, compute_id = $4, nodebalancer_id = $5
    from free where a.address = free.address
    returning host(a.address) as address, a.prefix, host(free.gateway) as gateway, a.public
    """)
async def take(
    db: Queries,
    region: str,
    public: bool,
    account_id: int,
    compute_id: int | None,
    nodebalancer_id: int | None,
) -> AddressRow | None:
    """A free address of the region's pools: a fresh one, else the one released first."""


@query("select pg_advisory_xact_lock(hashtext('addresses of ' || $1))")
async def lock_layout(db: Queries, region: str) -> None:
    """One transaction at a time lays out a region's pools."""


async def lay_out_more(db: Queries, region: str, public: bool) -> bool:
    """Turn the next addresses of the region's pools into rows; False when all are rows.

    Private ones have the prefix of the whole private range, whatever part the region has of it.
    """
    laid_out = await db.fetchval(
        """
        with pool as (
            select p.cidr, p.gateway, coalesce(f.next, network(p.cidr)::inet + 1) as start,
                p.region
            from ip_pool p left join ip_address_fill f on f.pool = p.cidr
            where p.region = $1 and p.kind = case when $2 then 'public' else 'private' end
                and coalesce(f.next, network(p.cidr)::inet + 1) < broadcast(p.cidr)::inet
            order by p.cidr limit 1),
        filled as (
            insert into ip_address_fill (pool, next)
            select cidr, least(broadcast(cidr)::inet, start + $3::bigint) from pool
            on conflict (pool) do update set next = excluded.next
            returning pool, next)
        insert into ip_address (address, region, public, prefix, gateway)
        select set_masklen(pool.start + n, 32), pool.region, $2,
            case when $2 then masklen(pool.cidr) else 17 end,
            case when $2 then pool.gateway end
        from pool join filled on filled.pool = pool.cidr
            cross join generate_series(0, $3::bigint - 1) n
        where pool.start + n < filled.next
            and host(pool.start + n) is distinct from host(pool.gateway)
        on conflict do nothing returning true
        """,
        region,
        public,
        _LAYOUT,
    )
    return bool(laid_out)


@query("""
    update ip_address set compute_id = null, account_id = null, released = $2
    where compute_id = $1
    """)
async def release(db: Queries, compute_id: int, now: datetime) -> None:
    """Give back all addresses of an instance; they are handed out again last."""


@query("""
    update ip_address set nodebalancer_id = null, account_id = null, released = $2
    where nodebalancer_id = $1
    """)
async def release_of_nodebalancer(db: Queries, nodebalancer_id: int, now: datetime) -> None:
    """The same of a NodeBalancer, when no engine answers at its address any more."""


@query("update ip_address set account_id = $2 where compute_id = $1")
async def set_account(db: Queries, compute_id: int, account_id: int) -> None:
    """The instance goes to another account, with all its addresses."""


@query("""
    update ip_address set compute_id = null, account_id = null, released = $2
    where address = $1::text::inet
    """)
async def release_one(db: Queries, address: str, now: datetime) -> None:
    """Give back one address."""


@query("update ip_address set compute_id = $2 where address = $1::text::inet")
async def move(db: Queries, address: str, compute_id: int) -> None:
    """Another instance of the account has the address."""


@query("""
    select host(a.address) as address, a.prefix,
        host(coalesce(p.gateway, a.gateway)) as gateway, a.public
    from ip_address a left join ip_pool p on p.region = a.region and p.cidr >> a.address
    where a.compute_id = $1 order by a.public desc, a.address
    """)
async def held_by(db: Queries, compute_id: int) -> list[AddressRow]:
    """The gateway is the catalogue's, or the last known of a pool that it no longer has."""


@query("""
    select compute_id, array_agg(host(address)) as addresses from ip_address
    where compute_id = any($1::bigint[]) group by compute_id
    """)
async def held_by_all(db: Queries, compute_ids: Collection[int]) -> dict[int, list[str]]:
    """The addresses of those of the instances that hold any."""


@query("""
    select host(a.address) as address, a.prefix,
        host(coalesce(p.gateway, a.gateway)) as gateway, a.public, a.region, a.compute_id
    from ip_address a left join ip_pool p on p.region = a.region and p.cidr >> a.address
    where a.account_id = $1 and a.address = $2::text::inet and a.compute_id is not null
    """)
async def find_held(db: Queries, account_id: int, address: str) -> HeldAddress | None:
    """An address of one of the account's instances."""


@dataclass(frozen=True, slots=True)
class BalancedAddress(AddressRow):
    """An address that a NodeBalancer has."""

    region: str
    nodebalancer_id: int


@query("""
    select host(a.address) as address, a.prefix,
        host(coalesce(p.gateway, a.gateway)) as gateway, a.public, a.region, a.nodebalancer_id
    from ip_address a left join ip_pool p on p.region = a.region and p.cidr >> a.address
    where a.account_id = $1 and a.address = $2::text::inet and a.nodebalancer_id is not null
    """)
async def find_balanced(db: Queries, account_id: int, address: str) -> BalancedAddress | None:
    """An address of one of the account's NodeBalancers."""


@query("""
    select host(a.address) as address, b.host
    from nodebalancer b join ip_address a on a.nodebalancer_id = b.id
    where b.region = $1 and b.host <> $2
    """)
async def balanced_elsewhere(db: Queries, region: str, host: str) -> dict[str, str]:
    """The addresses that NodeBalancers of a region have on other hosts, and which."""


async def find_all_held(
    db: Queries, account_id: int, addresses: Iterable[str]
) -> dict[str, HeldAddress]:
    """Those of the addresses that instances of the account have."""
    rows = await db.fetch(
        """
        select host(a.address) as address, a.prefix,
            host(coalesce(p.gateway, a.gateway)) as gateway, a.public, a.region, a.compute_id
        from ip_address a left join ip_pool p on p.region = a.region and p.cidr >> a.address
        where a.account_id = $1 and a.address = any($2::text[]::inet[])
            and a.compute_id is not null
        """,
        account_id,
        list(addresses),
    )
    return {row["address"]: HeldAddress(**row) for row in rows}


@query("""
    select host(address) as address, compute_id from ip_address
    where address = any($1::text[]::inet[]) and compute_id is not null
    """)
async def holders(db: Queries, addresses: list[str]) -> dict[str, int]:
    """Which instance has each of the addresses; free ones are left out."""


async def fills(db: Queries) -> dict[str, str]:
    """By pool the next address that is to be laid out."""
    rows = await db.fetch("select pool::text, host(next) as next from ip_address_fill")
    return {row["pool"]: row["next"] for row in rows}


@query("""
    select compute_id, array_agg(host(address)) as addresses
    from ip_address where compute_id > $1 and ($2::bigint is null or compute_id <= $2)
    group by compute_id
    """)
async def all_held(db: Queries, after: int = 0, last: int | None = None) -> dict[int, list[str]]:
    """The addresses of every instance that holds any, or of those with ids `after` to `last`."""


@query("""
    update ip_address a set account_id = $2, compute_id = $3
    where address = $1::text::inet and account_id is null
        and not exists (select from ip_pool p where p.gateway = address)
        and not exists (select from ip_leaving l where l.address = a.address)
    returning true
    """)
async def take_back(db: Queries, address: str, account_id: int, compute_id: int) -> bool:
    """Give an instance this very address.

    False when it is not a free one, also for one that has become a gateway.
    """


async def find_by_ipv6(db: Queries, account_id: int, address: str) -> tuple[int, str] | None:
    """The id and the region of the account's instance with this SLAAC address."""
    row = await db.fetchrow(
        "select id, region from compute_instance where account_id = $1 and ipv6 = $2 || '/128'",
        account_id,
        address,
    )
    return None if row is None else (row["id"], row["region"])
