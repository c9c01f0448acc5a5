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


async def give_resource(db: Queries, resource: str, host: str, other: str) -> None:
    """The same of what was to be done with one resource."""
    await db.execute(
        """
        update job set host = $3, revision = revision + 1
        where resource = $1 and host = $2 and finished is null
        """,
        resource,
        host,
        other,
    )


async def forget_schedules(db: Queries, host: str) -> None:
    """Nothing is repeated on it any more."""
    await db.execute("delete from job_schedule where name like '%@' || $1", host)
