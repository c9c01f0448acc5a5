"""The SQL of what hosts are to do."""

from roost.store import Queries


async def give(db: Queries, host: str, other: str) -> None:
    """Whatever a host was to do, another one does. Whoever works for the former one finds that its
    jobs have changed."""
    await db.execute(
        """
        update job set host = $2, revision = revision + 1 where host = $1 and finished is null
        """,
        host,
        other,
    )


async def forget_schedules(db: Queries, host: str) -> None:
    """Nothing is repeated on it any more."""
    await db.execute("delete from job_schedule where name like '%@' || $1", host)
