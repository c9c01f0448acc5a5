"""SQL of outbound transfer."""

from datetime import datetime

from roost.store import Queries


async def quota(db: Queries, account_id: int, now: datetime) -> int:
    """GB that the account's instances add to its pool in the month of `now`, in proportion."""
    size: int = await db.fetchval(
        """
        with month as (
            select date_trunc('month', $2::timestamp) as first,
                date_trunc('month', $2::timestamp) + interval '1 month' as next)
        select coalesce(floor(sum(
            i.transfer * extract(epoch from m.next - greatest(i.created, m.first))
                / extract(epoch from m.next - m.first))), 0)::bigint
        from compute_instance i cross join month m where i.account_id = $1
        """,
        account_id,
        now,
    )
    return size
