"""SQL of clones that are being made, and of the instances they are made of."""

from datetime import datetime

from roost.resources.compute.records import InstanceStatus
from roost.store import Queries


async def clones(db: Queries, compute_id: int) -> list[int]:
    """The clones of the instance that are being made."""
    rows = await db.fetch(
        "select id from compute_instance where source_id = $1 and status = 'cloning'", compute_id
    )
    return [row["id"] for row in rows]


async def begin(
    db: Queries, source_id: int, target_id: int, former: InstanceStatus, now: datetime
) -> None:
    """Both are cloning; `former` is what the target becomes again.

    An instance of which another clone is being made keeps its former status.
    """
    await db.execute(
        """
        update compute_instance set status = 'cloning', updated = $4,
            former_status = case when id = $2 then $3
                when status = 'cloning' then former_status else status end,
            source_id = case when id = $2 then $1::bigint end
        where id in ($1, $2)
        """,
        source_id,
        target_id,
        former,
        now.replace(microsecond=0),
    )


async def lock_both(db: Queries, source_id: int, target_id: int) -> None:
    """In the order of their ids, as everybody does who locks two."""
    await db.execute(
        "select from compute_instance where id in ($1, $2) order by id for no key update",
        source_id,
        target_id,
    )


async def end(db: Queries, source_id: int, target_id: int, now: datetime) -> None:
    """The target becomes what it was, and so does its source when this was the last clone."""
    sql = """
        update compute_instance i set status = i.former_status, former_status = null,
            source_id = null, updated = $2
        where i.id = $1 and i.status = 'cloning' and not exists (
            select from compute_instance c where c.source_id = i.id and c.status = 'cloning')
        """
    for compute_id in (target_id, source_id):
        await db.execute(sql, compute_id, now.replace(microsecond=0))
