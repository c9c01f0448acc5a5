"""SQL of what instances remember of their backups."""

from datetime import datetime

from roost.store import Queries


async def is_enabled(db: Queries, compute_id: int) -> bool:
    enabled: bool = await db.fetchval(
        "select backups_enabled from compute_instance where id = $1", compute_id
    )
    return enabled


async def week_day(db: Queries, compute_id: int) -> str | None:
    """The day whose backups are kept for longer, when one was chosen."""
    day: str | None = await db.fetchval(
        "select backup_day from compute_instance where id = $1", compute_id
    )
    return day


async def enable(db: Queries, compute_id: int) -> bool:
    """False when they were enabled before."""
    enabled = await db.fetchval(
        """
        update compute_instance set backups_enabled = true, backup_day = 'Scheduling',
            backup_window = 'Scheduling'
        where id = $1 and not backups_enabled returning true
        """,
        compute_id,
    )
    return enabled is not None


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


async def set_enabled(db: Queries, compute_id: int, enabled: bool) -> None:
    """Leaves the schedule as it is."""
    await db.execute(
        "update compute_instance set backups_enabled = $2 where id = $1", compute_id, enabled
    )


async def remember_boot(db: Queries, compute_id: int, config_id: int) -> None:
    """The config that a boot without one takes, unless there is one already."""
    await db.execute(
        "update compute_instance set config_id = $2 where id = $1 and config_id is null",
        compute_id,
        config_id,
    )


async def forget(db: Queries, compute_id: int) -> None:
    """Its last backup, and its schedule unless backups were enabled again."""
    await db.execute(
        """
        update compute_instance set backups_last = null,
            backup_day = case when backups_enabled then backup_day end,
            backup_window = case when backups_enabled then backup_window end
        where id = $1
        """,
        compute_id,
    )


async def due(db: Queries, window: str, number: int, opened: datetime) -> list[int]:
    """Instances whose window is open and that have had no automatic backup in it.

    Where no window was chosen, the id gives one of the twelve.
    """
    rows = await db.fetch(
        """
        select i.id from compute_instance i
        where i.backups_enabled
            and (i.backup_window = $1 or (i.backup_window = 'Scheduling' and i.id % 12 = $2))
            and i.status in ('running', 'offline')
            and exists (select from compute_disk d where d.compute_id = i.id and d.made)
            and not exists (select from compute_backup b
                where b.compute_id = i.id and b.type = 'auto' and b.created >= $3)
        order by i.id
        """,
        window,
        number,
        opened,
    )
    return [row["id"] for row in rows]
