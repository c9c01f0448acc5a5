"""Bring a database to the newest revision.

A revision is a file `NNNN_title.py` in `migrations/versions`; its number is its name, `UPGRADE` is
all that it does, and `DOWNGRADE` takes that back. A start on a database that is up to date costs
one query. A revision that has landed is never edited.
"""

import runpy
from collections.abc import Iterable
from pathlib import Path

from roost.errors import OperatorError
from roost.store.pool import Connection, connect

VERSIONS = Path(__file__).parent / "migrations" / "versions"
BASE = "base"
"""Before the first revision: an empty database."""

_LOCK = 0x726F6F7374
"""The advisory lock of a migrating process ("roost")."""

# The table has the name of the tool that the first revisions were run by.
_MARK = """
create table if not exists alembic_version (
    version_num varchar(32) not null constraint alembic_version_pkc primary key
);
"""


class RevisionError(OperatorError):
    """The database belongs to a newer program."""


def revisions() -> list[Path]:
    """The files of all revisions that this program has, oldest first."""
    return sorted(VERSIONS.glob("[0-9][0-9][0-9][0-9]_*.py"))


def head() -> str:
    """The newest revision that this program has."""
    return _number(revisions()[-1])


async def current(connection: Connection) -> str | None:
    """The revision of the database; None when it is empty."""
    if await connection.fetchval("select to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("select version_num from alembic_version")
    return revision


async def upgrade(dsn: str, revision: str | None = None) -> None:
    """To `revision`, or to the newest one. Any number of processes may do this at once.

    All or nothing. Raises RevisionError when the database belongs to a newer program.
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
        missing = [each for each in revisions() if (found or "") < _number(each) <= wanted]
        if missing:
            await _run(connection, "UPGRADE", missing, wanted)
    finally:
        await connection.close()


async def downgrade(dsn: str, revision: str) -> None:
    """Back to `revision`, or to nothing with BASE; what the tables since then held is lost."""
    wanted = "" if revision == BASE else revision
    connection = await connect(dsn)
    try:
        await connection.execute("select pg_advisory_lock($1)", _LOCK)
        found = await current(connection) or ""
        later = [each for each in revisions() if wanted < _number(each) <= found]
        await _run(connection, "DOWNGRADE", reversed(later), wanted)
    finally:
        await connection.close()


async def _run(connection: Connection, which: str, files: Iterable[Path], wanted: str) -> None:
    async with connection.transaction():
        await connection.execute(_MARK)
        for path in files:
            await connection.execute(runpy.run_path(str(path))[which])
        await connection.execute("delete from alembic_version")
        if wanted:
            await connection.execute("insert into alembic_version values ($1)", wanted)


def _number(path: Path) -> str:
    return path.name[:4]
