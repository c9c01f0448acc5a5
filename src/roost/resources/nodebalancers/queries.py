"""SQL of NodeBalancers."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from roost.core.billing.ledger import Billable
from roost.core.billing.ledger_queries import price_sql
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.nodebalancers.records import NodeBalancerRow
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement

_TRANSFER = """
    json_build_object('in', round(b.bytes_in / 1e6, 2), 'out', round(b.bytes_out / 1e6, 2),
        'total', round((b.bytes_in + b.bytes_out) / 1e6, 2))
    """

NODEBALANCERS = listing_of(
    NodeBalancerRow,
    source="nodebalancer b",
    scope="b.account_id = $1 and not b.deleting",
    key="b.id",
    granted=("'nodebalancer'", "b.id"),
    sql={"ipv4": "host(b.address)", "ipv6": "null::text", "transfer": _TRANSFER},
)

OF_INSTANCE = NODEBALANCERS.narrowed("""
    exists (select from nodebalancer_node n join nodebalancer_config c on c.id = n.config_id
        where c.nodebalancer_id = b.id and n.compute_id = $2)
    """)

LIMIT = LimitGroup.of(
    "nodebalancer where account_id = $1 and not deleting",
    LimitKind("nodebalancers", "NodeBalancers", 50),
)

CHARGED = Billable(
    "nodebalancer",
    "NodeBalancer",
    f"""
    select b.id, b.account_id, b.label, '' as plan, b.region, 1 as quantity,
        {price_sql("p.price", "p.region_prices", "b.region")}, b.tags
    from nodebalancer b join unit_price p on p.service = 'nodebalancer'
    where not b.deleting
    """,  # noqa: S608 - constants
)

HELD = "select id::text, account_id, deleting as waits from nodebalancer"
"""What ends with accounts."""

RUNNING = """
    select id::text, account_id, deleting as waits from nodebalancer where not resting
    """
RESTING = """
    select id::text, account_id, deleting as waits from nodebalancer where resting
    """


@dataclass(frozen=True, slots=True)
class BalancerFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    region: str
    engine: str
    host: str
    left_host: str | None
    """Which may still serve it, after a move."""
    address: str
    client_conn_throttle: int
    deleting: bool
    resting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBalancer:
    """A row to insert."""

    id: int
    account_id: int
    label: str
    region: str
    engine: str
    host: str
    address: str
    hostname: str
    client_conn_throttle: int
    tags: list[str]
    now: datetime


_FACTS = """
    select id, account_id, label, region, engine, host, left_host, host(address) as address,
        client_conn_throttle, deleting, resting
    from nodebalancer
    """

_INSERT = Statement("""
    insert into nodebalancer (id, account_id, label, region, engine, host, address, hostname,
        client_conn_throttle, tags, created, updated)
    values (:id, :account_id, :label, :region, :engine, :host, :address::text::inet, :hostname,
        :client_conn_throttle, :tags, :now, :now)
    on conflict (account_id, label) where not deleting do nothing
    returning id
    """)


@query("select nextval(pg_get_serial_sequence('nodebalancer', 'id'))")
async def next_id(db: Queries) -> int:
    """Of one that is to be made."""


async def insert(db: Queries, new: NewBalancer) -> bool:
    """False when the account has one of this label."""
    return await db.fetchval(*_INSERT.of(new)) is not None


@query(f"{_FACTS} where id = $1")
async def find(db: Queries, nodebalancer_id: int) -> BalancerFacts | None:
    """One of any account, for Roost's own work, also one that is being deleted."""


@query(f"{_FACTS} where account_id = $1 and id = $2 and not deleting for no key update")
async def lock(db: Queries, account_id: int, nodebalancer_id: int) -> BalancerFacts | None:
    """One of the account's, which nobody else changes until the end of the transaction."""


@query(f"{_FACTS} where id = $1 for no key update")
async def lock_any(db: Queries, nodebalancer_id: int) -> BalancerFacts | None:
    """The same of any account, also one that is being deleted."""


@query(f"{_FACTS} where id = any($1::bigint[]) order by id")
async def find_many(db: Queries, ids: Collection[int]) -> list[BalancerFacts]:
    """Those of the ids that exist, of any account."""


@query(f"""
    {_FACTS} where region = $1 and $2 in (host, left_host) and id > $3 order by id limit $4
    """)
async def on_host(
    db: Queries, region: str, host: str, after: int, limit: int
) -> list[BalancerFacts]:
    """The next ones of all accounts, by id, also those that are to be dropped there."""


@query("select label from nodebalancer where account_id = $1 and id = $2 and not deleting")
async def label_of(db: Queries, account_id: int, nodebalancer_id: int) -> str | None:
    """None when the account has no such NodeBalancer."""


@query("""
    update nodebalancer set label = coalesce($2, label), tags = coalesce($3, tags),
        client_conn_throttle = coalesce($4, client_conn_throttle), updated = $5
    where id = $1 and (label <> $2 or tags <> $3 or client_conn_throttle <> $4) returning true
    """)
async def update(
    db: Queries,
    nodebalancer_id: int,
    label: str | None,
    tags: list[str] | None,
    throttle: int | None,
    now: datetime,
) -> bool:
    """Change what is not None. False when everything is so already.

    asyncpg.UniqueViolationError for a label that is taken.
    """


@query("update nodebalancer set updated = $2 where id = $1")
async def touch(db: Queries, nodebalancer_id: int, now: datetime) -> None:
    """Something of it has changed."""


@query("update nodebalancer set deleting = true, updated = $2 where id = $1")
async def set_deleting(db: Queries, nodebalancer_id: int, now: datetime) -> None: ...


@query("update nodebalancer set resting = $2 where id = $1")
async def set_resting(db: Queries, nodebalancer_id: int, resting: bool) -> None: ...


@query("delete from nodebalancer where id = $1 and deleting")
async def forget(db: Queries, nodebalancer_id: int) -> None:
    """Drop the row of a deleted one, and with it its configs, nodes and grants."""


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold something there."""
    rows = await db.fetch("select distinct region, engine from nodebalancer order by 1, 2")
    return [(row["region"], row["engine"]) for row in rows]
