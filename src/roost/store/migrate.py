"""Bring a database to the newest revision.

A revision is a file `NNNN_title.py` in `migrations/versions`; its number is its name, and its
`UPGRADE` all that it does. A start on a database that is up to date costs one query, and a new
database no more than its tables: Alembic is imported only to change one that is in use.
"""

from pathlib import Path

from roost.errors import OperatorError
from roost.store.migrations import fresh
from roost.store.pool import Connection, connect

VERSIONS = Path(__file__).parent / "migrations" / "versions"

_LOCK = 0x726F6F7374
"""The advisory lock of a migrating process ("roost")."""


class RevisionError(OperatorError):
    """The database belongs to a newer program."""


def revisions() -> list[Path]:
    """The files of all revisions that this program has, oldest first."""
    return sorted(VERSIONS.glob("[0-9][0-9][0-9][0-9]_*.py"))


def head() -> str:
    """The newest revision that this program has."""
    return revisions()[-1].name[:4]


async def current(connection: Connection) -> str | None:
    """The revision of the database; None when it is empty."""
    if await connection.fetchval("select to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("select version_num from alembic_version")
    return revision


async def upgrade(dsn: str, revision: str | None = None) -> None:
    """To `revision`, or to the newest one. Any number of processes may do this at once.

    Raises RevisionError when the database belongs to a newer program.
    """
    wanted = revision or head()
    connection = await connect(dsn)
    try:
        if await current(connection) == wanted:
            return
        await connection.execute("select pg_advisory_lock($1)", _LOCK)
        found = await current(connection)
        if found is not None and found > head():
            raise RevisionError(
                f"the database is at revision {found}, newer than this program, which knows"
                f" {head()}: install the version that made it"
            )
        if found is None:
            await fresh.build(connection, (p for p in revisions() if p.name[:4] <= wanted))
        elif found != wanted:
            from roost.store.migrations import runner

            await runner.upgrade(dsn, wanted)
    finally:
        await connection.close()


async def downgrade(dsn: str, revision: str) -> None:
    """Back to `revision`, or to nothing with `base`; what the tables since then held is lost."""
    from roost.store.migrations import runner

    connection = await connect(dsn)
    try:
        await connection.execute("select pg_advisory_lock($1)", _LOCK)
        await runner.downgrade(dsn, revision)
    finally:
        await connection.close()
