"""SQL of the nodes of NodeBalancers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from roost.core.bindings import Binding, between
from roost.core.lists import listing_of
from roost.resources.nodebalancers.config_queries import OWNED
from roost.resources.nodebalancers.engine import Mode, NodeStatus
from roost.resources.nodebalancers.records import NodeBalancerNodeRow
from roost.store import Queries
from roost.store.query import query

NODES = listing_of(
    NodeBalancerNodeRow,
    source="nodebalancer_node n",
    scope=f"""
        n.config_id = $3 and {OWNED} and exists (
            select from nodebalancer_config c where c.id = $3 and c.nodebalancer_id = $2)
        """,
    key="n.id",
    sql={"nodebalancer_id": "$2::bigint", "address": "host(n.address) || ':' || n.port"},
)

ACROSS = between(
    "NodeBalancer",
    "has a node of",
    "instance",
    "nodebalancer_node n join nodebalancer_config c on c.id = n.config_id"
    " join nodebalancer a on a.id = c.nodebalancer_id"
    " join compute_instance b on b.id = n.compute_id",
)
_ANOTHERS = """
    select n.id, format('node %s of a NodeBalancer is %s, which instance %s does not have',
        n.id, host(n.address), n.compute_id) as text
    from nodebalancer_node n where not exists (
        select from ip_address a where a.address = n.address and a.compute_id = n.compute_id)
    order by n.id
    """
BINDINGS = (Binding(across=ACROSS), Binding(across=_ANOTHERS))


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A row."""

    id: int
    config_id: int
    compute_id: int
    address: str
    port: int
    label: str
    weight: int
    mode: Mode


_FACTS = """
    select n.id, n.config_id, n.compute_id, host(n.address) as address, n.port, n.label, n.weight,
        n.mode
    from nodebalancer_node n
    """


@query(f"{_FACTS} where n.config_id = $1 and n.id = $2")
async def find(db: Queries, config_id: int, node_id: int) -> NodeFacts | None: ...


@query(f"{_FACTS} where n.config_id = $1 order by n.id")
async def of_config(db: Queries, config_id: int) -> list[NodeFacts]:
    """By id."""


@query(f"""
    {_FACTS} join nodebalancer_config c on c.id = n.config_id
    join compute_instance i on i.id = n.compute_id
    where c.nodebalancer_id = $1 and i.status <> 'deleting' order by n.id
    """)
async def served_by(db: Queries, nodebalancer_id: int) -> list[NodeFacts]:
    """Of all configs, by id; nothing is sent to instances that are being deleted."""


@query("""
    insert into nodebalancer_node (id, config_id, compute_id, address, port, label, weight, mode)
    values (coalesce($8, nextval(pg_get_serial_sequence('nodebalancer_node', 'id'))),
        $1, $2, $3::text::inet, $4, $5, $6, $7)
    on conflict (config_id, address, port) do nothing returning id
    """)
async def insert(
    db: Queries,
    config_id: int,
    compute_id: int,
    address: str,
    port: int,
    label: str,
    weight: int,
    mode: str,
    node_id: int | None,
) -> int | None:
    """The id, a new one where none is given; None when the config has one of this address."""


@query("""
    update nodebalancer_node set compute_id = $2, address = $3::text::inet, port = $4, label = $5,
        weight = $6, mode = $7
    where id = $1
    """)
async def update(
    db: Queries,
    node_id: int,
    compute_id: int,
    address: str,
    port: int,
    label: str,
    weight: int,
    mode: str,
) -> None:
    """asyncpg.UniqueViolationError for an address that another node of the config has."""


@query("delete from nodebalancer_node where id = any($1::bigint[])")
async def delete(db: Queries, node_ids: Collection[int]) -> None: ...


@query("""
    select distinct c.nodebalancer_id
    from nodebalancer_node n join nodebalancer_config c on c.id = n.config_id
    where n.compute_id = $1 order by 1
    """)
async def balancers_of(db: Queries, compute_id: int) -> list[int]:
    """Those that an instance is a node of."""


@query("delete from nodebalancer_node where compute_id = $1")
async def drop_instance(db: Queries, compute_id: int) -> None:
    """It is a node of nothing any more."""


async def set_statuses(db: Queries, found: Mapping[int, NodeStatus]) -> None:
    """As the last look has found them."""
    await db.execute(
        """
        update nodebalancer_node n set status = f.status
        from unnest($1::bigint[], $2::text[]) as f (id, status)
        where n.id = f.id and n.status <> f.status
        """,
        list(found),
        list(found.values()),
    )
