"""SQL of managed databases."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass, replace
from datetime import datetime

from asyncpg import Record

from roost.core.billing.ledger import Billable
from roost.core.entities.kind import ResourceKind
from roost.core.lists import listing_of
from roost.resources.databases.engine import DatabaseShape, DatabaseSpec, Fork
from roost.resources.databases.records import (
    AnyDatabaseRow,
    DatabaseEngineRow,
    DatabaseStatus,
    DatabaseTypeRow,
    MysqlDatabaseRow,
)
from roost.resources.databases.rules import ADMIN
from roost.secrets import Box
from roost.store import Queries
from roost.store.paging import Column
from roost.store.query import query
from roost.store.statement import Statement

ENGINES = listing_of(
    DatabaseEngineRow,
    source="database_engine e",
    scope="not e.retired",
    key="e.id",
)
EVERY_ENGINE = replace(ENGINES, scope="true")

TYPES = listing_of(
    DatabaseTypeRow,
    source="database_type t",
    scope="not t.retired",
    key="t.position",
)
EVERY_TYPE = replace(TYPES, scope="true", key="t.id")
"""With those that the catalogue no longer has: their databases still name them."""

_ENGINE = Column("'mysql'::text", "text", sortable=False)
_HOSTS = """
    (select row_to_json(hosts) from (
        select d.host_primary as primary, d.host_secondary as secondary) hosts)
    """
MYSQL_DATABASES = listing_of(
    MysqlDatabaseRow,
    source="managed_database d",
    scope="d.account_id = $1 and not d.deleting",
    key="d.id",
    granted=("'database'", "d.id"),
    sql={
        "engine": "'mysql'",
        "hosts": _HOSTS,
        "total_disk_size_gb": "d.disk / 1024",
        "used_disk_size_gb": "(d.used_mb + 1023) / 1024",
        "fork": """
            (select row_to_json(fork) from (
                select d.fork_source as source, d.fork_moment as restore_time) fork
            where d.fork_source is not null)
            """,
        "oldest_restore_time": "d.oldest_moment",
    },
    columns={"engine": _ENGINE},
)
DATABASES = listing_of(
    AnyDatabaseRow,
    source=MYSQL_DATABASES.source,
    scope=MYSQL_DATABASES.scope,
    key=MYSQL_DATABASES.key,
    granted=MYSQL_DATABASES.granted,
    sql={
        "engine": "'mysql'",
        "hosts": _HOSTS,
        "instance_uri": "'/v4/databases/mysql/instances/' || d.id",
    },
    columns={"engine": _ENGINE},
)
"""Of all engines."""


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    region: str
    engine: str
    """Of the data plane."""
    type: str
    server: str
    version: str
    vcpus: int
    memory: int
    disk: int
    """MB, as is memory."""
    cluster_size: int
    replication_type: str
    encrypted: bool
    ssl_connection: bool
    allow_list: list[str]
    updates: str
    """JSON."""
    status: DatabaseStatus
    password: bytes
    next_password: bytes | None
    ca_certificate: str | None
    used_mb: int
    disk_full: bool
    oldest_moment: datetime | None
    fork_source: int | None
    fork_moment: datetime | None
    made: bool
    deleting: bool
    row_version: int
    """Another one after each change of the row."""

    @property
    def shape(self) -> DatabaseShape:
        return DatabaseShape(
            self.server,
            self.version,
            self.cluster_size,
            self.replication_type,
            self.encrypted,
            self.ssl_connection,
        )

    @property
    def fork(self) -> Fork | None:
        if self.fork_source is None or self.fork_moment is None:
            return None
        return Fork(self.fork_source, self.fork_moment)

    def spec(
        self, box: Box, password: bytes | None = None, *, full: bool | None = None
    ) -> DatabaseSpec:
        """With another sealed password, or another state of the disk, when one is given."""
        return DatabaseSpec(
            self.id,
            self.shape,
            self.vcpus,
            self.memory,
            self.disk,
            tuple(self.allow_list),
            ADMIN,
            box.open(password or self.password).decode(),
            self.disk_full if full is None else full,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDatabase:
    """A row to insert."""

    account_id: int
    label: str
    region: str
    engine: str
    type: str
    shape: DatabaseShape
    vcpus: int
    memory: int
    disk: int
    allow_list: list[str]
    updates: str
    """JSON."""
    password: bytes
    """Sealed."""
    fork: Fork | None = None
    now: datetime


_FACTS = """
    select id, account_id, label, region, engine, type, server, version, vcpus, memory, disk,
        cluster_size, replication_type, encrypted, ssl_connection, allow_list, updates, status,
        password, next_password, ca_certificate, used_mb, disk_full, oldest_moment,
        fork_source, fork_moment, made, deleting, xmin as row_version
    from managed_database
    """

_INSERT = Statement(f"""
    insert into managed_database as d (account_id, label, region, engine, type, server, version,
        vcpus, memory, disk, cluster_size, replication_type, encrypted, ssl_connection, allow_list,
        updates, password, fork_source, fork_moment, status, created, updated)
    values (:account_id, :label, :region, :engine, :type, :server, :version,
        :vcpus, :memory, :disk, :cluster_size, :replication_type, :encrypted, :ssl_connection,
        :allow_list, :updates, :password, :fork_source, :fork_moment, 'provisioning',
        :now, :now)
    on conflict (account_id, label) where not deleting do nothing
    returning d.id, {MYSQL_DATABASES.record_text} as record
    """)


async def insert(db: Queries, new: NewDatabase) -> tuple[int, str] | None:
    """The database's id and record; None when the account has one of this label."""
    shape = new.shape
    row = await db.fetchrow(
        *_INSERT.of(
            new,
            server=shape.server,
            version=shape.version,
            cluster_size=shape.cluster_size,
            replication_type=shape.replication_type,
            encrypted=shape.encrypted,
            ssl_connection=shape.ssl_connection,
            fork_source=None if new.fork is None else new.fork.source,
            fork_moment=None if new.fork is None else new.fork.moment,
        )
    )
    return None if row is None else (row["id"], row["record"])


async def find(db: Queries, database_id: int) -> DatabaseFacts | None:
    """A database of any account, for Roost's own work."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1", database_id))


async def find_own(db: Queries, account_id: int, database_id: int) -> DatabaseFacts | None:
    """A database that the account has."""
    sql = f"{_FACTS} where account_id = $1 and id = $2 and not deleting"
    return _facts(await db.fetchrow(sql, account_id, database_id))


async def lock(db: Queries, account_id: int, database_id: int) -> DatabaseFacts | None:
    """A database of the account, which nobody else changes until the end of the transaction."""
    sql = f"{_FACTS} where account_id = $1 and id = $2 and not deleting for no key update"
    return _facts(await db.fetchrow(sql, account_id, database_id))


async def lock_any(db: Queries, database_id: int) -> DatabaseFacts | None:
    """A database of any account, which nobody else changes until the end of the transaction."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1 for no key update", database_id))


async def in_region(db: Queries, region: str, after: int, limit: int) -> list[DatabaseFacts]:
    """The next ones of a region, by id."""
    sql = f"{_FACTS} where region = $1 and id > $2 order by id limit $3"
    return [DatabaseFacts(**row) for row in await db.fetch(sql, region, after, limit)]


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold databases of theirs."""
    rows = await db.fetch("select distinct region, engine from managed_database order by 1, 2")
    return [(row["region"], row["engine"]) for row in rows]


@query("select distinct region from managed_database order by region")
async def regions_in_use(db: Queries) -> list[str]: ...


async def promised_in(db: Queries, region: str) -> tuple[int, int]:
    """MB of memory and of disk that all nodes of a region have, or have soon."""
    row = await db.fetchrow(
        """
        select coalesce(sum(memory * cluster_size), 0)::bigint as memory,
            coalesce(sum(disk * cluster_size), 0)::bigint as disk
        from managed_database where region = $1
        """,
        region,
    )
    assert row is not None
    return row["memory"], row["disk"]


async def full(db: Queries, limit: int) -> list[Record]:
    """`id`, `region` and `disk` (MB) of those whose disk is full."""
    return await db.fetch(
        """
        select id, region, disk from managed_database
        where disk_full and not deleting order by id limit $1
        """,
        limit,
    )


def _facts(row: Record | None) -> DatabaseFacts | None:
    return None if row is None else DatabaseFacts(**row)


DATABASE = ResourceKind(
    name="database",
    path="/databases/mysql/instances/{id}",
    listing=MYSQL_DATABASES,
    label="d.label",
    ticket_field="database_id",
)


def resource_of(database_id: int) -> str:
    """The name under which jobs of a database run one at a time."""
    return f"database:{database_id}"


_PRICE = """
    (select c -> 'price' from json_array_elements(t.engines -> 'mysql') c
        where (c ->> 'quantity')::int = d.cluster_size limit 1)
    """
CHARGED = Billable(
    "db_mysql",
    "Database",
    f"""
    select d.id, d.account_id, d.label, d.type as plan, d.region, 1 as quantity,
        coalesce(({_PRICE} ->> 'hourly')::numeric, 0) as hourly,
        coalesce(({_PRICE} ->> 'monthly')::numeric, 0) as monthly, array[]::text[] as tags
    from managed_database d join database_type t on t.id = d.type
    where not d.deleting
    """,
)
"""All nodes together have one price."""


HELD = "select id::text, account_id, deleting as waits from managed_database"
"""What ends with accounts."""
