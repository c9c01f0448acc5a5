"""The SQL of workers, who show that they live."""

from datetime import timedelta

from roost.settings import MAIN_HOST
from roost.store import Queries


async def show_alive(db: Queries, owner: str, lease: float, host: str = MAIN_HOST) -> None:
    """Say that `owner` works, and its host, and forget those who have not said so for long."""
    await db.execute(
        """
        with alive as (
            insert into worker (owner, host, seen) values ($1, $2, clock_timestamp())
            on conflict (owner) do update set seen = excluded.seen
        )
        insert into host (name, seen) values ($2, clock_timestamp())
        on conflict (name) do update set seen = excluded.seen
        """,
        owner,
        host,
    )
    await db.execute(
        "delete from worker where seen < clock_timestamp() - $1::interval",
        timedelta(seconds=10 * lease),
    )


async def show_gone(db: Queries, owner: str) -> None:
    await db.execute("delete from worker where owner = $1", owner)


async def count_alive(db: Queries, lease: float) -> int:
    """Workers that have shown themselves within a lease."""
    count: int = await db.fetchval(
        "select count(*) from worker where seen > clock_timestamp() - $1::interval",
        timedelta(seconds=lease),
    )
    return count
