"""SQL of firewalls."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from asyncpg import Record

from roost.core.entities.kind import ResourceKind
from roost.core.entities.queries import entity_sql
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.limits.queries import hold as hold_limit
from roost.core.lists import listing_of
from roost.resources.compute.entity import COMPUTE
from roost.resources.firewalls.records import FirewallRow, FirewallStatus
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.store import Queries
from roost.store.paging import Counted
from roost.store.query import query
from roost.store.statement import Statement, inserted, selected

_PARTS = """
    f.rules->'inbound' as inbound, f.rules->>'inbound_policy' as inbound_policy,
    f.rules->'outbound' as outbound, f.rules->>'outbound_policy' as outbound_policy,
    f.rules_version as version, left(md5(f.rules::text), 8) as fingerprint
    """

DEVICE_SQL = f"""
    case when d.compute_id is null then {entity_sql(NODEBALANCER, "d.nodebalancer_id")}
        else {entity_sql(COMPUTE, "d.compute_id")} end
    """
"""The service that the device `d` is."""

FIREWALLS = listing_of(
    FirewallRow,
    source="firewall f",
    scope="f.account_id = $1 and f.status <> 'deleted'",
    key="f.id",
    granted=("'firewall'", "f.id"),
    counted=Counted("'firewall'", hidden="f.account_id = $1 and f.status = 'deleted'"),
    sql={
        "rules": f"(select row_to_json(shown) from (select {_PARTS}) shown)",
        "entities": f"""
            array(
                select {DEVICE_SQL} from firewall_device d
                where d.firewall_id = f.id order by d.id)
            """,
    },
)

FIREWALL = ResourceKind(
    name="firewall",
    path="/networking/firewalls/{id}",
    listing=FIREWALLS,
    label="f.label",
    tags_table="firewall",
    ticket_field="firewall_id",
)

FIREWALLS_OF_INSTANCE = FIREWALLS.narrowed(
    "exists (select from firewall_device d where d.firewall_id = f.id and d.compute_id = $2)"
)

FIREWALLS_OF_NODEBALANCER = FIREWALLS.narrowed(
    "exists (select from firewall_device d where d.firewall_id = f.id and d.nodebalancer_id = $2)"
)

RULES = replace(FIREWALLS, record=_PARTS)
"""The rules alone."""

LIMIT = LimitGroup.of(
    "firewall where account_id = $1 and status <> 'deleted'",
    LimitKind("firewalls", "firewalls", 100),
)


@dataclass(frozen=True, slots=True)
class FirewallFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    status: FirewallStatus
    rules: str
    """JSON."""
    placed: list[str]
    """Regions whose engines may hold it."""
    version: int
    """Another one after each change of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFirewall:
    """A row to insert."""

    account_id: int
    label: str
    rules: str
    """JSON."""
    tags: list[str]
    now: datetime


_FACTS = f"select {selected(FirewallFacts, version='xmin')} from firewall"

_NEW = inserted(NewFirewall, status="'enabled'", created=":now", updated=":now")
_INSERT = Statement(f"""
    insert into firewall as f {_NEW}
    on conflict (account_id, label) where status <> 'deleted' do nothing
    returning f.id
""")


async def hold(db: Queries, account_id: int) -> None:
    """Let nobody else put a service of the account behind a firewall, or enable one, until the
    transaction ends: so a service has one that is enabled."""
    await hold_limit(db, "firewall devices", account_id)


async def insert(db: Queries, new: NewFirewall) -> int | None:
    """The firewall's id; None when the account has one of this label."""
    found: int | None = await db.fetchval(*_INSERT.of(new))
    return found


async def find(db: Queries, firewall_id: int) -> FirewallFacts | None:
    """A firewall of any account, for Roost's own work, also one that is deleted."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1", firewall_id))


async def lock(db: Queries, account_id: int, firewall_id: int) -> FirewallFacts | None:
    """One of the account's, which nobody else changes until the end of the transaction."""
    sql = f"{_FACTS} where account_id = $1 and id = $2 and status <> 'deleted' for no key update"
    return _facts(await db.fetchrow(sql, account_id, firewall_id))


async def lock_any(db: Queries, firewall_id: int) -> FirewallFacts | None:
    """A firewall of any account, also one that is deleted, which nobody else changes meanwhile."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1 for no key update", firewall_id))


@query("""
    select exists (
        select from firewall where account_id = $1 and id = $2 and status <> 'deleted')
    """)
async def exists(db: Queries, account_id: int, firewall_id: int) -> bool: ...


@query(f"""
    {_FACTS} f
    where id > $2 and ($1 = any(placed) or (status = 'deleted' and cardinality(placed) = 0)
        or exists (
        select from firewall_device d join compute_instance i on i.id = d.compute_id
        where d.firewall_id = f.id and i.region = $1) or exists (
        select from firewall_device d join nodebalancer b on b.id = d.nodebalancer_id
        where d.firewall_id = f.id and b.region = $1))
    order by id limit $3
    """)
async def in_region(db: Queries, region: str, after: int, limit: int) -> list[FirewallFacts]:
    """The next ones of all accounts that the region's engine has or should have, by id; and those
    that were deleted before any engine had them."""


@query("""
    update firewall set label = coalesce($2, label), tags = coalesce($3, tags), updated = $4
    where id = $1 and (label <> $2 or tags <> $3) returning true
    """)
async def update(
    db: Queries, firewall_id: int, label: str | None, tags: list[str] | None, now: datetime
) -> bool:
    """Change what is not None. False when everything is so already.

    asyncpg.UniqueViolationError for a label that is taken.
    """


@query("update firewall set status = $2, updated = $3 where id = $1")
async def set_status(
    db: Queries, firewall_id: int, status: FirewallStatus, now: datetime
) -> None: ...


@query("""
    update firewall set rules = $2, rules_version = rules_version + 1, updated = $3
    where id = $1
    """)
async def set_rules(db: Queries, firewall_id: int, rules: str, now: datetime) -> None: ...


@query("""
    update firewall set placed = array(
        select distinct region from unnest(placed || $2::text[]) as region order by region)
    where id = $1 and not placed @> $2::text[]
    """)
async def place(db: Queries, firewall_id: int, regions: Collection[str]) -> None:
    """Engines of these regions are going to hold it."""


@query("delete from firewall where id = $1 and status = 'deleted'")
async def forget(db: Queries, firewall_id: int) -> None:
    """Drop the row of a deleted one, and with it its devices and grants."""


def _facts(row: Record | None) -> FirewallFacts | None:
    return None if row is None else FirewallFacts(**row)


HELD = """
    select f.id::text, f.account_id, f.status = 'deleted' or exists (
        select from firewall_device d where d.firewall_id = f.id) as waits
    from firewall f
    """
"""What ends with accounts: no instance is open before it ends."""
