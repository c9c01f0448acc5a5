"""SQL of the devices of firewalls: which instances are behind which."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from roost.core.bindings import between
from roost.core.lists import listing_of
from roost.resources.firewalls.queries import DEVICE_SQL
from roost.resources.firewalls.records import FirewallDeviceRow
from roost.store import Queries
from roost.store.query import query

DEVICES = listing_of(
    FirewallDeviceRow,
    source="firewall_device d",
    scope="""
        d.firewall_id = $2 and exists (
            select from firewall f
            where f.id = $2 and f.account_id = $1 and f.status <> 'deleted')
        """,
    key="d.id",
    sql={
        "entity": DEVICE_SQL,
    },
)


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """A service behind a firewall: an instance, or a NodeBalancer."""

    id: int
    firewall_id: int
    compute_id: int | None
    nodebalancer_id: int | None


@dataclass(frozen=True, slots=True)
class GuestFacts:
    """What engines need of an instance behind a firewall."""

    compute_id: int
    region: str
    ipv4: list[str]
    ipv6: str | None


ACROSS = between(
    "firewall",
    "filters",
    "instance",
    "firewall_device d join firewall a on a.id = d.firewall_id"
    " join compute_instance b on b.id = d.compute_id",
)


BALANCED_ACROSS = between(
    "firewall",
    "filters",
    "NodeBalancer",
    "firewall_device d join firewall a on a.id = d.firewall_id"
    " join nodebalancer b on b.id = d.nodebalancer_id",
)


async def insert(
    db: Queries, firewall_id: int, compute_ids: Collection[int], now: datetime
) -> dict[int, int]:
    """Ids of the new devices by instance; what is a device already is left out."""
    rows = await db.fetch(
        """
        insert into firewall_device (firewall_id, compute_id, created, updated)
        select $1, compute_id, $3, $3 from unnest($2::bigint[]) as compute_id order by compute_id
        on conflict do nothing returning id, compute_id
        """,
        firewall_id,
        list(compute_ids),
        now,
    )
    return {row["compute_id"]: row["id"] for row in rows}


@query("""
    insert into firewall_device (firewall_id, nodebalancer_id, created, updated)
    values ($1, $2, $3, $3) on conflict do nothing returning id
    """)
async def insert_balanced(
    db: Queries, firewall_id: int, nodebalancer_id: int, now: datetime
) -> int | None:
    """The id of the new device; None for a NodeBalancer that is one already."""


@query("""
    select id, firewall_id, compute_id, nodebalancer_id from firewall_device
    where firewall_id = $1 and id = $2
    """)
async def find(db: Queries, firewall_id: int, device_id: int) -> DeviceFacts | None: ...


@query("""
    select compute_id from firewall_device where firewall_id = $1 and compute_id is not null
    order by compute_id
    """)
async def of_firewall(db: Queries, firewall_id: int) -> list[int]:
    """The instances behind it."""


@query("""
    select nodebalancer_id from firewall_device
    where firewall_id = $1 and nodebalancer_id is not null order by nodebalancer_id
    """)
async def balancers_of(db: Queries, firewall_id: int) -> list[int]:
    """The NodeBalancers behind it."""


@query("""
    select firewall_id from firewall_device where nodebalancer_id = $1 order by firewall_id
    """)
async def before_balancer(db: Queries, nodebalancer_id: int) -> list[int]:
    """The firewalls that a NodeBalancer is behind."""


@query("""
    select id, firewall_id, compute_id, nodebalancer_id from firewall_device
    where compute_id = $1 order by firewall_id
    """)
async def of_instance(db: Queries, compute_id: int) -> list[DeviceFacts]:
    """By firewall."""


@query("""
    select d.compute_id from firewall_device d join firewall f on f.id = d.firewall_id
    where d.compute_id = any($1::bigint[]) and f.status = 'enabled'
        and f.id is distinct from $2
    """)
async def enabled_before(
    db: Queries, compute_ids: Collection[int], firewall_id: int | None
) -> set[int]:
    """Those of the instances that another firewall filters."""


@query("""
    select d.nodebalancer_id from firewall_device d join firewall f on f.id = d.firewall_id
    where d.nodebalancer_id = any($1::bigint[]) and f.status = 'enabled'
        and f.id is distinct from $2
    """)
async def enabled_before_balancers(
    db: Queries, ids: Collection[int], firewall_id: int | None
) -> set[int]:
    """Those of the NodeBalancers that another firewall filters."""


@query("""
    select distinct f.id from firewall_device d join firewall f on f.id = d.firewall_id
    where d.compute_id = any($1::bigint[]) and f.status = 'enabled' and f.id <> $2
    order by f.id
    """)
async def enabled_beside(db: Queries, compute_ids: Collection[int], firewall_id: int) -> list[int]:
    """The other firewalls that filter any of the instances."""


@query("""
    select distinct f.id from firewall_device d join firewall f on f.id = d.firewall_id
    where d.nodebalancer_id = any($1::bigint[]) and f.status = 'enabled' and f.id <> $2
    order by f.id
    """)
async def enabled_beside_balancers(
    db: Queries, ids: Collection[int], firewall_id: int
) -> list[int]:
    """The other firewalls that filter any of the NodeBalancers."""


@dataclass(frozen=True, slots=True)
class BalancedFacts:
    """What engines need of a NodeBalancer behind a firewall."""

    nodebalancer_id: int
    region: str
    address: str


@query("""
    select b.id as nodebalancer_id, b.region, host(b.address) as address
    from firewall_device d join nodebalancer b on b.id = d.nodebalancer_id
    where d.firewall_id = $1 and not b.deleting and $2 in (b.host, b.left_host) order by b.id
    """)
async def balanced(db: Queries, firewall_id: int, host: str) -> list[BalancedFacts]:
    """What is behind it on a host, which may be about to come or to go, and is not about to be
    deleted."""


@query("""
    select i.id as compute_id, i.region, i.ipv4, i.ipv6
    from firewall_device d join compute_instance i on i.id = d.compute_id
    where d.firewall_id = $1 and i.host = $2 and i.status <> 'deleting' order by i.id
    """)
async def guests(db: Queries, firewall_id: int, host: str) -> list[GuestFacts]:
    """What is behind it on a host; not what is about to be deleted, whose addresses are soon
    another's."""


@query("""
    delete from firewall_device d using firewall f, compute_instance i
    where f.id = d.firewall_id and i.id = d.compute_id and d.firewall_id = $1
        and i.account_id <> f.account_id
    """)
async def release_strangers(db: Queries, firewall_id: int) -> None:
    """Let go of the instances that are not of the firewall's account."""


@query("delete from firewall_device where id = any($1::bigint[])")
async def delete(db: Queries, device_ids: Collection[int]) -> None: ...
