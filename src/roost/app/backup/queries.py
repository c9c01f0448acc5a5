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


async def is_empty(db: Connection) -> bool:
    """Whether the database has no tables of anybody."""
    empty: bool = await db.fetchval(
        """
        select not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where c.relkind in ('r', 'p', 'v', 'm', 'S') and n.nspname !~ '^pg_'
                and n.nspname <> 'information_schema')
        """
    )
    return empty


async def analyze(db: Connection) -> None:
    """What has been loaded is planned for as what has grown."""
    await db.execute("analyze")


async def forget_workers(db: Connection) -> None:
    """Those that served when the rows were saved do not serve with this database."""
    await db.execute("update host set seen = '-infinity' where seen is not null")
