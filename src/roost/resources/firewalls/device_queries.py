"""SQL of the devices of firewalls: which instances are behind which."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from roost.core.bindings import between
from roost.core.entities.queries import entity_sql
from roost.core.lists import listing_of
from roost.resources.compute.entity import COMPUTE
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
        "entity": entity_sql(COMPUTE, "d.compute_id"),
    },
)


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """An instance behind a firewall."""

    id: int
    firewall_id: int
    compute_id: int


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
    select id, firewall_id, compute_id from firewall_device where firewall_id = $1 and id = $2
    """)
async def find(db: Queries, firewall_id: int, device_id: int) -> DeviceFacts | None: ...


@query("select compute_id from firewall_device where firewall_id = $1 order by compute_id")
async def of_firewall(db: Queries, firewall_id: int) -> list[int]:
    """The instances behind it."""


@query("""
    select id, firewall_id, compute_id from firewall_device where compute_id = $1
    order by firewall_id
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
    select distinct f.id from firewall_device d join firewall f on f.id = d.firewall_id
    where d.compute_id = any($1::bigint[]) and f.status = 'enabled' and f.id <> $2
    order by f.id
    """)
async def enabled_beside(db: Queries, compute_ids: Collection[int], firewall_id: int) -> list[int]:
    """The other firewalls that filter any of the instances."""


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
