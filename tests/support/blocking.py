"""Requests that wait for a transaction of a test."""

from roost.app.roost import Roost
from roost.store import Queries

BLOCKED = """
    select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock')
    """
"""Whether somebody waits for a lock in this database: the server has those of other tests, too. To
be asked outside of transactions, inside of which the answer stays the same."""


async def blocks(roost: Roost, db: Queries) -> bool:
    """Whether somebody waits for that transaction."""
    pid = await db.fetchval("select pg_backend_pid()")
    waiting = "select exists (select from pg_stat_activity where $1 = any(pg_blocking_pids(pid)))"
    return bool(await roost.store.fetchval(waiting, pid))
