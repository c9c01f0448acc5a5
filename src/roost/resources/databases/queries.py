"""SQL of managed databases."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from asyncpg import Record

from roost.core.billing.ledger import Billable
from roost.core.entities.kind import ResourceKind
from roost.core.entities.records import Entity
from roost.core.lists import listing_of
from roost.resources.databases.engine import DatabaseShape, DatabaseSpec, Fork, KindName
from roost.resources.databases.records import (
    AnyDatabaseRow,
    DatabaseEngineRow,
    DatabaseStatus,
    DatabaseTypeRow,
    MysqlDatabaseRow,
    PostgresqlDatabaseRow,
)
from roost.resources.databases.rules import ADMIN
from roost.secrets import Box
from roost.store import Queries
from roost.store.paging import Column, Listing
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

_ENGINE = Column("d.kind", "text", sortable=False)
_HOSTS = """
    (select row_to_json(hosts) from (
        select d.host_primary as primary, d.host_secondary as secondary) hosts)
    """
DATABASES = listing_of(
    AnyDatabaseRow,
    source="managed_database d",
    scope="d.account_id = $1 and not d.deleting",
    key="d.id",
    granted=("'database'", "d.id"),
    sql={
        "engine": "d.kind",
        "hosts": _HOSTS,
        "instance_uri": "'/v4/databases/' || d.kind || '/instances/' || d.id",
    },
    columns={"engine": _ENGINE},
)
"""Databases of all kinds."""


def _of_kind(kind: KindName, row: type) -> Listing:
    return listing_of(
        row,
        source=DATABASES.source,
        scope=f"{DATABASES.scope} and d.kind = '{kind}'",
        key=DATABASES.key,
        granted=DATABASES.granted,
        sql={
            "engine": "d.kind",
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


LISTINGS: Mapping[KindName, Listing] = {
    "mysql": _of_kind("mysql", MysqlDatabaseRow),
    "postgresql": _of_kind("postgresql", PostgresqlDatabaseRow),
}


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    kind: KindName
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
    replication_commit_type: str | None
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
            self.replication_commit_type,
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
    kind: KindName = "mysql"
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
    port: int = 3306
    """Shown until it is made."""
    password: bytes
    """Sealed."""
    fork: Fork | None = None
    now: datetime


_FACTS = """
    select id, account_id, label, kind, region, engine, type, server, version, vcpus, memory, disk,
        cluster_size, replication_type, encrypted, ssl_connection, replication_commit_type,
        allow_list, updates, status, password, next_password, ca_certificate, used_mb,
        disk_full, oldest_moment, fork_source, fork_moment, made, deleting, xmin as row_version
    from managed_database
    """

_INSERT = {
    kind: Statement(f"""
    insert into managed_database as d (account_id, label, kind, region, engine, type, server,
        version, vcpus, memory, disk, cluster_size, replication_type, encrypted, ssl_connection,
        replication_commit_type, allow_list, updates, port, password, fork_source, fork_moment,
        status, created, updated)
    values (:account_id, :label, :kind, :region, :engine, :type, :server,
        :version, :vcpus, :memory, :disk, :cluster_size, :replication_type, :encrypted,
        :ssl_connection, :commit_type, :allow_list, :updates, :port, :password, :fork_source,
        :fork_moment, 'provisioning', :now, :now)
    on conflict (account_id, label) where not deleting do nothing
    returning d.id, {listing.record_text} as record
    """)
    for kind, listing in LISTINGS.items()
}


async def insert(db: Queries, new: NewDatabase) -> tuple[int, str] | None:
    """The database's id and record; None when the account has one of this label."""
    shape = new.shape
    row = await db.fetchrow(
        *_INSERT[new.kind].of(
            new,
            server=shape.server,
            version=shape.version,
            cluster_size=shape.cluster_size,
            replication_type=shape.replication_type,
            encrypted=shape.encrypted,
            ssl_connection=shape.ssl_connection,
            commit_type=shape.commit_type,
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


async def in_region(
    db: Queries, kind: KindName, region: str, after: int, limit: int
) -> list[DatabaseFacts]:
    """The next ones of a kind in a region, by id."""
    sql = f"{_FACTS} where kind = $1 and region = $2 and id > $3 order by id limit $4"
    return [DatabaseFacts(**row) for row in await db.fetch(sql, kind, region, after, limit)]


def engines_in_use(kind: KindName) -> Callable[[Queries], Awaitable[list[tuple[str, str]]]]:
    """Regions and the names of the engines that hold databases of the kind there."""
    sql = "select distinct region, engine from managed_database where kind = $1 order by 1, 2"

    async def find(db: Queries) -> list[tuple[str, str]]:
        return [(row["region"], row["engine"]) for row in await db.fetch(sql, kind)]

    return find


@query("select distinct region from managed_database where kind = $1 order by region")
async def regions_in_use(db: Queries, kind: KindName) -> list[str]: ...


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
    path="/databases/{variant}/instances/{id}",
    variant="d.kind",
    listing=DATABASES,
    label="d.label",
    ticket_field="database_id",
)


def entity_of(database: DatabaseFacts, label: str | None = None) -> Entity:
    """As events name it; by another label when one is given."""
    return DATABASE.entity(database.id, label or database.label, database.kind)


def resource_of(database_id: int) -> str:
    """The name under which jobs of a database run one at a time."""
    return f"database:{database_id}"


_PRICE = """
    (select c -> 'price' from json_array_elements(t.engines -> d.kind) c
        where (c ->> 'quantity')::int = d.cluster_size limit 1)
    """


def _charged(kind: KindName) -> Billable:
    return Billable(
        f"db_{kind}",
        "Database",
        f"""
        select d.id, d.account_id, d.label, d.type as plan, d.region, 1 as quantity,
            coalesce(({_PRICE} ->> 'hourly')::numeric, 0) as hourly,
            coalesce(({_PRICE} ->> 'monthly')::numeric, 0) as monthly, array[]::text[] as tags
        from managed_database d join database_type t on t.id = d.type
        where not d.deleting and d.kind = '{kind}'
        """,
    )


CHARGED: Mapping[KindName, Billable] = {kind: _charged(kind) for kind in LISTINGS}
"""All nodes together have one price."""


HELD = "select id::text, account_id, deleting as waits from managed_database"
"""What ends with accounts."""
