"""SQL that changes what volumes are: status, size, whether they exist, whose they are."""

from datetime import datetime

from roost.resources.volumes.records import VolumeStatus
from roost.store import Queries


async def set_status(
    db: Queries, volume_id: int, status: VolumeStatus, now: datetime, *, made: bool = False
) -> None:
    """The one place that writes a status. A clone that has one is independent of its source.

    `made`: from now on the engine holds it.
    """
    await db.execute(
        """
        update volume set status = $2, source_id = null, updated = $3, made = made or $4
        where id = $1
        """,
        volume_id,
        status,
        now.replace(microsecond=0),
        made,
    )


async def set_made(db: Queries, volume_id: int) -> None:
    """The engine holds it."""
    await db.execute("update volume set made = true where id = $1", volume_id)


async def set_size(db: Queries, volume_id: int, size: int) -> None:
    """GiB"""
    await db.execute("update volume set size = $2 where id = $1", volume_id, size)


async def attach(
    db: Queries, volume_id: int, compute_id: int, persists: bool, now: datetime
) -> None:
    await db.execute(
        """
        update volume set compute_id = $2, persist_across_boots = $3, updated = $4 where id = $1
        """,
        volume_id,
        compute_id,
        persists,
        now.replace(microsecond=0),
    )


async def detach(db: Queries, volume_id: int, compute_id: int, now: datetime) -> None:
    """Nothing happens to one that another instance has, or none."""
    await db.execute(
        """
        update volume set compute_id = null, persist_across_boots = true, updated = $3
        where id = $1 and compute_id = $2
        """,
        volume_id,
        compute_id,
        now.replace(microsecond=0),
    )


async def set_deleting(db: Queries, volume_id: int) -> None:
    """From now on nobody sees it."""
    await db.execute("update volume set deleting = true, source_id = null where id = $1", volume_id)


async def undelete(db: Queries, volume_id: int, now: datetime) -> None:
    """A deletion failed: the volume is there as before, and can be deleted again.

    One that was given up while it was made stays `creating`, as it is of no use. When its label was
    given to another one meanwhile, it is shown with its id behind it.
    """
    await db.execute(
        """
        update volume v set deleting = false, updated = $2,
            status = case when made then 'active' else 'creating' end,
            label = case when exists (
                    select from volume o where o.account_id = v.account_id and o.label = v.label
                        and not o.deleting)
                then rtrim(left(v.label, 31 - length(v.id::text)), '-') || '-' || v.id
                else v.label end
        where v.id = $1 and v.deleting
        """,
        volume_id,
        now.replace(microsecond=0),
    )


async def delete(db: Queries, volume_id: int) -> None:
    await db.execute("delete from volume where id = $1", volume_id)
