"""SQL of backups."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from roost.core.lists import listing_of
from roost.resources.compute.backups.records import BackupRow, BackupStatus, BackupType
from roost.resources.compute.backups.rules import Kept
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, inserted

_UNFINISHED = "('pending', 'running', 'needsPostProcessing')"

BACKUPS = listing_of(
    BackupRow,
    source="compute_backup b join compute_instance i on i.id = b.compute_id",
    scope="i.account_id = $1 and b.compute_id = $2",
    key="b.id",
    sql={
        "available": "b.status = 'successful'",
        "configs": """
            (select coalesce(json_agg(c ->> 'label'), '[]') from json_array_elements(b.configs) c)
            """,
        "disks": """
            (select coalesce(json_agg(json_build_object('size', (d ->> 'size')::int,
                'filesystem', d ->> 'filesystem', 'label', d ->> 'label')), '[]')
            from json_array_elements(b.disks) d)
            """,
    },
)


@dataclass(frozen=True, slots=True)
class NewBackup:
    """A row to insert, of a backup that is about to be made."""

    compute_id: int
    type: BackupType
    label: str | None
    region: str
    engine: str
    configs: str
    """JSON of SavedConfig."""
    disks: str
    """JSON of SavedDisk."""


@dataclass(frozen=True, slots=True)
class BackupFacts:
    """What jobs and rules need of a row."""

    id: int
    compute_id: int
    account_id: int
    type: BackupType
    status: BackupStatus
    region: str
    engine: str
    configs: str
    disks: str


_NEW = inserted(NewBackup, status="'pending'", created=":now", updated=":now")
_INSERT = Statement(f"""
    insert into compute_backup {_NEW}
    returning id
""")


async def insert(db: Queries, new: NewBackup, now: datetime) -> int:
    backup_id: int = await db.fetchval(*_INSERT.of(new, now=now.replace(microsecond=0)))
    return backup_id


@query("""
    select b.id, b.compute_id, i.account_id, b.type, b.status, b.region, b.engine, b.configs,
        b.disks
    from compute_backup b join compute_instance i on i.id = b.compute_id where b.id = $1
    """)
async def find(db: Queries, backup_id: int) -> BackupFacts | None:
    """A backup of any account."""


async def find_all(db: Queries, account_id: int, ids: Collection[int]) -> dict[int, BackupFacts]:
    """Those of the ids that are backups of the account."""
    rows = await db.fetch(
        """
        select b.id, b.compute_id, i.account_id, b.type, b.status, b.region, b.engine, b.configs,
            b.disks
        from compute_backup b join compute_instance i on i.id = b.compute_id
        where i.account_id = $1 and b.id = any($2)
        """,
        account_id,
        list(ids),
    )
    return {row["id"]: BackupFacts(**row) for row in rows}


@query(f"""
    with b as (
        select b.*, {BACKUPS.record_text}::json as record
        from compute_backup b where b.compute_id = $1
    )
    select json_build_object(
        'automatic', (select coalesce(json_agg(record order by id desc), '[]')
            from b where type = 'auto'),
        'snapshot', json_build_object(
            'current', (select record from b
                where type = 'snapshot' and status not in {_UNFINISHED}
                order by status = 'successful' desc, id desc limit 1),
            'in_progress', (select record from b
                where type = 'snapshot' and status in {_UNFINISHED} limit 1)))
    """)  # noqa: S608 - constants
async def all_of(db: Queries, compute_id: int) -> str:
    """The record of all backups: automatic ones from the newest on, and snapshots."""


async def set_status(db: Queries, backup_id: int, status: BackupStatus, now: datetime) -> None:
    """`finished` is when it became successful or failed."""
    await db.execute(
        """
        update compute_backup set status = $2, updated = $3,
            finished = case when $2 in ('successful', 'failed') then $3::timestamp end
        where id = $1
        """,
        backup_id,
        status,
        now.replace(microsecond=0),
    )


@query("update compute_backup set configs = $2, disks = $3 where id = $1")
async def set_content(db: Queries, backup_id: int, configs: str, disks: str) -> None:
    """What is going to be saved: JSON of SavedConfig and SavedDisk."""


async def set_failed(db: Queries, backup_id: int, now: datetime) -> None:
    """Unless it is whole, and only the removal of others has failed."""
    await db.execute(
        """
        update compute_backup set status = 'failed', updated = $2, finished = $2
        where id = $1 and status <> 'successful'
        """,
        backup_id,
        now.replace(microsecond=0),
    )


async def set_success(db: Queries, backup_id: int, now: datetime) -> None:
    """The backup is whole; the instance shows when it got its last one."""
    await set_status(db, backup_id, "successful", now)
    await db.execute(
        """
        update compute_instance set backups_last = $2
        where id = (select compute_id from compute_backup where id = $1)
        """,
        backup_id,
        now.replace(microsecond=0),
    )


@query(f"""
    select id from compute_backup
    where compute_id = $1 and id <> $2 and type = 'snapshot' and status not in {_UNFINISHED}
    """)  # noqa: S608 - a constant
async def finished_snapshots(db: Queries, compute_id: int, but: int) -> list[int]:
    """All save one."""


async def finished_automatic(
    db: Queries, compute_id: int, but: int
) -> tuple[list[Kept], list[int]]:
    """The successful automatic backups, and the ids of the others that are over, save one."""
    rows = await db.fetch(
        f"""
        select id, created, status from compute_backup
        where compute_id = $1 and id <> $2 and type = 'auto' and status not in {_UNFINISHED}
        """,  # noqa: S608 - a constant
        compute_id,
        but,
    )
    whole = [Kept(row["id"], row["created"]) for row in rows if row["status"] == "successful"]
    return whole, [row["id"] for row in rows if row["status"] != "successful"]


@query("select created from compute_backup where id = $1")
async def created(db: Queries, backup_id: int) -> datetime: ...


@query("""
    select b.id, b.status from compute_backup b join compute_instance i on i.id = b.compute_id
    where b.region = $1 and i.host = $2 and b.id > $3 order by b.id limit $4
    """)
async def on_host(
    db: Queries, region: str, host: str, after: int, limit: int
) -> dict[int, BackupStatus]:
    """The status of the next ones of the region whose instance is on a host, by id."""


@query("""
    select backups_enabled or exists (select from compute_backup b where b.compute_id = i.id)
    from compute_instance i where i.id = $1
    """)
async def has_any(db: Queries, compute_id: int) -> bool:
    """Whether the instance is backed up, or has been."""


@query("select backups_enabled from compute_instance where id = $1")
async def is_enabled(db: Queries, compute_id: int) -> bool: ...


@query("select backup_day from compute_instance where id = $1")
async def week_day(db: Queries, compute_id: int) -> str | None:
    """The day whose backups are kept for longer, when one was chosen."""


@query("""
    update compute_instance set backups_enabled = true, backup_day = 'Scheduling',
        backup_window = 'Scheduling'
    where id = $1 and not backups_enabled returning true
    """)
async def enable(db: Queries, compute_id: int) -> bool:
    """False when they were enabled before."""


async def set_schedule(
    db: Queries, compute_id: int, day: str | None, window: str | None, now: datetime
) -> bool:
    """None leaves one as it is. False when everything is so already."""
    changed = await db.fetchval(
        """
        update compute_instance set backup_day = coalesce($2, backup_day),
            backup_window = coalesce($3, backup_window), updated = $4
        where id = $1 and (backup_day is distinct from coalesce($2, backup_day)
            or backup_window is distinct from coalesce($3, backup_window)) returning true
        """,
        compute_id,
        day,
        window,
        now.replace(microsecond=0),
    )
    return changed is not None


@query("update compute_instance set backups_enabled = $2 where id = $1")
async def set_enabled(db: Queries, compute_id: int, enabled: bool) -> None:
    """Leaves the schedule as it is."""


@query("update compute_instance set config_id = $2 where id = $1 and config_id is null")
async def remember_boot(db: Queries, compute_id: int, config_id: int) -> None:
    """The config that a boot without one takes, unless there is one already."""


async def forget(db: Queries, compute_id: int) -> None:
    """All backups of an instance are gone; so is its schedule, unless they were enabled again."""
    await db.execute("delete from compute_backup where compute_id = $1", compute_id)
    await db.execute(
        """
        update compute_instance set backups_last = null,
            backup_day = case when backups_enabled then backup_day end,
            backup_window = case when backups_enabled then backup_window end
        where id = $1
        """,
        compute_id,
    )


@query("""
    select i.id from compute_instance i
    where i.backups_enabled
        and (i.backup_window = $1 or (i.backup_window = 'Scheduling' and i.id % 12 = $2))
        and i.status in ('running', 'offline')
        and exists (select from compute_disk d where d.compute_id = i.id and d.made)
        and not exists (select from compute_backup b
            where b.compute_id = i.id and b.type = 'auto' and b.created >= $3)
    order by i.id
    """)
async def due(db: Queries, window: str, number: int, opened: datetime) -> list[int]:
    """Instances whose window is open and that have had no automatic backup in it.

    Where no window was chosen, the id gives one of the twelve.
    """
