"""SQL of instances that rest while their account is suspended."""

from datetime import datetime

from roost.core.instance_queries import InstanceStatus
from roost.store import Queries

RUNNING = """
    select id::text, account_id, status not in ('running', 'offline') as waits
    from compute_instance where status not in ('billing_suspension', 'deleting')
    """
RESTING = """
    select id::text, account_id, false as waits
    from compute_instance where status = 'billing_suspension'
    """


async def suspend(db: Queries, compute_id: int, former: InstanceStatus, now: datetime) -> None:
    """`former` is what it becomes again."""
    await db.execute(
        """
        update compute_instance
        set status = 'billing_suspension', former_status = $2, updated = $3
        where id = $1 and status <> 'deleting'
        """,
        compute_id,
        former,
        now.replace(microsecond=0),
    )


async def resume(db: Queries, compute_id: int, now: datetime) -> InstanceStatus | None:
    """What it was before, now that it is off; None when it does not rest."""
    former: InstanceStatus | None = await db.fetchval(
        """
        update compute_instance i set status = 'offline', former_status = null, updated = $2
        from compute_instance f where i.id = $1 and f.id = $1 and i.status = 'billing_suspension'
        returning coalesce(f.former_status, 'offline')
        """,
        compute_id,
        now.replace(microsecond=0),
    )
    return former
