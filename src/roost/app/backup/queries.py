"""SQL of backups: a moment at which no step of a job ends."""

from roost.store import Connection

_LOCK_MILLISECONDS = 2000
"""Whoever changes jobs meanwhile waits behind us."""


async def hold_jobs(db: Connection) -> None:
    """No job is changed until the transaction ends.

    Raises asyncpg.LockNotAvailableError when others do not let go.
    """
    await db.execute(f"set local lock_timeout = {_LOCK_MILLISECONDS}")
    await db.execute("lock table job in share mode")


async def export_snapshot(db: Connection) -> str:
    """The name by which others see what this transaction sees, as long as it lasts."""
    name: str = await db.fetchval("select pg_export_snapshot()")
    return name


async def analyze(db: Connection) -> None:
    """What has been loaded is planned for as what has grown."""
    await db.execute("analyze")
