"""SQL of backups of managed databases."""

from dataclasses import dataclass
from datetime import datetime

from asyncpg import Record

from roost.core.lists import listing_of
from roost.resources.databases.records import BackupType, DatabaseBackupRow
from roost.store import Queries
from roost.store.query import query

BACKUPS = listing_of(
    DatabaseBackupRow,
    source="database_backup b",
    scope="b.database_id = $1 and b.made and not b.deleting",
    key="b.id",
)
"""Of one database."""


@dataclass(frozen=True, slots=True)
class BackupFacts:
    id: int
    database_id: int
    label: str
    type: BackupType
    made: bool
    deleting: bool


_FACTS = "select id, database_id, label, type, made, deleting from database_backup"


async def insert(
    db: Queries, database_id: int, label: str, kind: BackupType, now: datetime
) -> int | None:
    """Its id; None when the database has a backup of this label."""
    backup_id: int | None = await db.fetchval(
        """
        insert into database_backup (database_id, label, type, created) values ($1, $2, $3, $4)
        on conflict (database_id, label) where not deleting do nothing returning id
        """,
        database_id,
        label,
        kind,
        now.replace(microsecond=0),
    )
    return backup_id


@query(
    "select count(*) from database_backup"
    " where database_id = $1 and type = 'snapshot' and not deleting"
)
async def count_snapshots(db: Queries, database_id: int) -> int:
    """Also those that are being made."""


async def find(db: Queries, backup_id: int) -> BackupFacts | None:
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1", backup_id))


async def lock_whole(db: Queries, database_id: int, backup_id: int) -> BackupFacts | None:
    """One that is shown, which nobody else changes until the end of the transaction."""
    return _facts(
        await db.fetchrow(
            f"{_FACTS} where database_id = $1 and id = $2 and made and not deleting"
            " for no key update",
            database_id,
            backup_id,
        )
    )


@query(f"{_FACTS} where database_id = $1 order by id")
async def all_of(db: Queries, database_id: int) -> list[BackupFacts]: ...


@query("update database_backup set made = true where id = $1")
async def set_made(db: Queries, backup_id: int) -> None: ...


@query("update database_backup set deleting = $2 where id = $1")
async def set_deleting(db: Queries, backup_id: int, deleting: bool) -> None: ...


@query("delete from database_backup where id = $1")
async def delete(db: Queries, backup_id: int) -> None: ...


async def set_verified(db: Queries, backup_id: int, now: datetime, restorable: bool) -> None:
    await db.execute(
        "update database_backup set verified = $2, restorable = $3 where id = $1",
        backup_id,
        now.replace(microsecond=0),
        restorable,
    )


@query(
    f"{_FACTS} where made and not deleting and (verified is null or verified < $1)"
    " order by verified nulls first, id limit $2"
)
async def unverified(db: Queries, since: datetime, limit: int) -> list[BackupFacts]:
    """Those that have not been verified since then: first the ones that never were."""


async def unrestorable(db: Queries, limit: int) -> list[Record]:
    """`id`, `database_id`, `region` and `verified` of those that could not be restored."""
    return await db.fetch(
        """
        select b.id, b.database_id, d.region, b.verified
        from database_backup b join managed_database d on d.id = b.database_id
        where not b.restorable and b.made and not b.deleting and not d.deleting
        order by b.id limit $1
        """,
        limit,
    )


@query("""
    select d.id from managed_database d
    where d.status = 'active' and not d.deleting and d.created < $1 and not exists (
        select from database_backup b
        where b.database_id = d.id and b.type = 'auto' and b.created >= $1)
    order by d.id limit $2
    """)
async def due(db: Queries, midnight: datetime, limit: int) -> list[int]:
    """Databases without an automatic backup of the day that began at `midnight` (UTC)."""


@query(
    f"{_FACTS} where type = 'auto' and made and not deleting and created < $1 order by id limit $2"
)
async def expired(db: Queries, before: datetime, limit: int) -> list[BackupFacts]:
    """Automatic ones from before a time that nobody removes yet."""


def _facts(row: Record | None) -> BackupFacts | None:
    return None if row is None else BackupFacts(**row)
