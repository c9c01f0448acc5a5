"""SQL that changes what managed databases are."""

from datetime import datetime

from roost.resources.databases.engine import Access, Hosts
from roost.resources.databases.queries import DatabaseFacts
from roost.resources.databases.records import DatabaseStatus
from roost.store import Queries
from roost.store.query import query


async def set_status(db: Queries, database_id: int, status: DatabaseStatus, now: datetime) -> None:
    """The one place that writes a status."""
    await db.execute(
        "update managed_database set status = $2, updated = $3 where id = $1",
        database_id,
        status,
        now.replace(microsecond=0),
    )


async def set_access(db: Queries, database_id: int, access: Access) -> None:
    """The engine holds it, and clients can reach it."""
    await db.execute(
        """
        update managed_database set made = true, host_primary = $2, host_secondary = $3, port = $4,
            ca_certificate = $5
        where id = $1
        """,
        database_id,
        *_names(access.hosts),
        access.port,
        access.ca_certificate,
    )


async def set_hosts(db: Queries, database_id: int, hosts: Hosts) -> None:
    """Clients are to connect there from now on."""
    await db.execute(
        "update managed_database set host_primary = $2, host_secondary = $3 where id = $1",
        database_id,
        *_names(hosts),
    )


def _names(hosts: Hosts) -> tuple[str, str | None]:
    return hosts.primary.name, None if hosts.secondary is None else hosts.secondary.name


@query("""
    update managed_database set made = false, host_primary = null, host_secondary = null
    where id = $1
    """)
async def set_unmade(db: Queries, database_id: int) -> None:
    """The engine holds nothing of it."""


@query("update managed_database set used_mb = $2 where id = $1 and used_mb <> $2")
async def set_used(db: Queries, database_id: int, used_mb: int) -> None: ...


async def set_disk_full(db: Queries, database: DatabaseFacts, full: bool) -> bool:
    """Whether it is news. Of the plan's disk that was looked at: nothing of another one."""
    changed = await db.fetchval(
        """
        update managed_database set disk_full = $2
        where id = $1 and disk = $3 and disk_full <> $2 returning true
        """,
        database.id,
        full,
        database.disk,
    )
    return changed is not None


@query(
    "update managed_database set oldest_moment = $2"
    " where id = $1 and oldest_moment is distinct from $2"
)
async def set_oldest_moment(db: Queries, database_id: int, moment: datetime | None) -> None:
    """The first one that a fork can have."""


async def update(
    db: Queries, database_id: int, label: str | None, updates: str | None, now: datetime
) -> bool:
    """Change what is not None. False when everything is so already.

    asyncpg.UniqueViolationError for a label that is taken.
    """
    changed = await db.fetchval(
        """
        update managed_database set label = coalesce($2, label),
            updates = coalesce($3::json, updates), updated = $4
        where id = $1 and (label <> $2 or updates::jsonb <> $3::jsonb) returning true
        """,
        database_id,
        label,
        updates,
        now.replace(microsecond=0),
    )
    return changed is not None


@query("update managed_database set allow_list = $2 where id = $1")
async def set_allow_list(db: Queries, database_id: int, networks: list[str]) -> None: ...


@query("""
    update managed_database set type = $2, vcpus = $3, memory = $4, disk = $5,
        disk_full = disk_full and disk >= $5
    where id = $1
    """)
async def set_plan(
    db: Queries, database_id: int, plan: str, vcpus: int, memory: int, disk: int
) -> None:
    """memory and disk in MB. A disk that grows is full no more."""


@query("update managed_database set next_password = $2 where id = $1")
async def set_next_password(db: Queries, database_id: int, sealed: bytes | None) -> None: ...


@query("""
    update managed_database set password = coalesce(next_password, password),
        next_password = null
    where id = $1
    """)
async def take_next_password(db: Queries, database_id: int) -> None: ...


@query("update managed_database set deleting = true where id = $1")
async def set_deleting(db: Queries, database_id: int) -> None:
    """From now on nobody sees it."""


async def undelete(db: Queries, database_id: int, now: datetime) -> None:
    """A deletion failed: the database is there and can be deleted again.

    When its label was given to another one meanwhile, it is shown with its id behind it.
    """
    await db.execute(
        """
        update managed_database d set deleting = false, status = 'failed', updated = $2,
            label = case when exists (
                    select from managed_database o where o.account_id = d.account_id
                        and o.label = d.label and not o.deleting)
                then left(d.label, 31 - length(d.id::text)) || '-' || d.id else d.label end
        where d.id = $1 and d.deleting
        """,
        database_id,
        now.replace(microsecond=0),
    )


@query("delete from managed_database where id = $1")
async def delete(db: Queries, database_id: int) -> None:
    """Its backups go with it."""
