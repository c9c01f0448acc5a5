"""SQL of the configs of NodeBalancers."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Mapping
from dataclasses import dataclass

from roost.core.lists import listing_of
from roost.resources.nodebalancers.records import NodeBalancerConfigRow
from roost.resources.nodebalancers.rules import COLUMNS, ConfigValues
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, changed

_NODES = """
    (select json_build_object('up', count(*) filter (where n.status = 'UP'),
            'down', count(*) filter (where n.status = 'DOWN'))
        from nodebalancer_node n where n.config_id = c.id)
    """
OWNED = """
    exists (select from nodebalancer b
        where b.id = $2 and b.account_id = $1 and not b.deleting)
    """
"""That $2 is a NodeBalancer of the account $1."""

CONFIGS = listing_of(
    NodeBalancerConfigRow,
    source="nodebalancer_config c",
    scope=f"c.nodebalancer_id = $2 and {OWNED}",
    key="c.id",
    sql={
        "ssl_cert": "case when c.certificate is not null then '<REDACTED>' end",
        "ssl_key": "case when c.private_key is not null then '<REDACTED>' end",
        "nodes_status": _NODES,
    },
)

_VALUES = ", ".join(f'"{name}"' for name in COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFacts(ConfigValues):
    """A row."""

    id: int
    certificate: str | None
    private_key: bytes | None
    """Sealed."""


_FACTS = f"select id, {_VALUES}, certificate, private_key from nodebalancer_config"
_CERTIFIED = ("certificate", "private_key", "ssl_commonname", "ssl_fingerprint")
_INSERT = Statement(f"""
    insert into nodebalancer_config (nodebalancer_id, {_VALUES}, {", ".join(_CERTIFIED)})
    values (:nodebalancer_id, {", ".join(f":{name}" for name in COLUMNS)},
        :certificate, :private_key, :ssl_commonname, :ssl_fingerprint)
    on conflict (nodebalancer_id, port) do nothing returning id
    """)
_UPDATE = Statement(
    f"update nodebalancer_config set {changed(*COLUMNS, *_CERTIFIED)} where id = :id"
)


async def insert(db: Queries, nodebalancer_id: int, values: Mapping[str, object]) -> int | None:
    """The id of a new one; None when the port is taken."""
    row = {
        "certificate": None,
        "private_key": None,
        "ssl_commonname": "",
        "ssl_fingerprint": "",
        **values,
    }
    found: int | None = await db.fetchval(*_INSERT.of(nodebalancer_id=nodebalancer_id, **row))
    return found


async def update(db: Queries, config_id: int, values: Mapping[str, object]) -> None:
    """Change the columns that are named. asyncpg.UniqueViolationError for a port that is taken."""
    row = {**dict.fromkeys((*COLUMNS, *_CERTIFIED)), **values}
    await db.execute(*_UPDATE.of(id=config_id, **row))


@query(f"{_FACTS} where nodebalancer_id = $1 and id = $2")
async def find(db: Queries, nodebalancer_id: int, config_id: int) -> ConfigFacts | None: ...


@query(f"{_FACTS} where nodebalancer_id = $1 order by id")
async def of_balancer(db: Queries, nodebalancer_id: int) -> list[ConfigFacts]:
    """By id."""


@query(
    f"select exists (select from nodebalancer_config c where c.id = $3 and "
    f"c.nodebalancer_id = $2 and {OWNED})"
)
async def exists(db: Queries, account_id: int, nodebalancer_id: int, config_id: int) -> bool:
    """Whether it is a config of a NodeBalancer of the account."""


@query("select count(*) from nodebalancer_config where nodebalancer_id = $1")
async def count(db: Queries, nodebalancer_id: int) -> int: ...


@query("delete from nodebalancer_config where id = $1")
async def delete(db: Queries, config_id: int) -> None:
    """With its nodes."""
