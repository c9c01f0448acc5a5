"""Requests that wait for a transaction of a test."""

from roost.app.roost import Roost
from roost.store import Queries


async def blocks(roost: Roost, db: Queries) -> bool:
    """Whether somebody waits for that transaction."""
    pid = await db.fetchval("select pg_backend_pid()")
    waiting = "select exists (select from pg_stat_activity where $1 = any(pg_blocking_pids(pid)))"
    return bool(await roost.store.fetchval(waiting, pid))
