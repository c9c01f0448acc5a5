"""Bring a database to the newest revision.

A revision is a file `NNNN_title.sql` in `migrations/versions`, or a folder `NNNN_title` of files
that run in the order of their names; its number is its name. A start on a database that is up to
date costs one query. A revision that has landed is never edited, and none is taken back: the way
back is a backup.
"""

from pathlib import Path

from roost.errors import OperatorError
from roost.store.connection import Connection
from roost.store.pool import connect

VERSIONS = Path(__file__).parent / "migrations" / "versions"

_LOCK = 0x726F6F7374
"""The advisory lock of a migrating process ("roost")."""

_LAST_WITH_OLDER = "8c52d183"
"""A commit that upgrades from all earlier revisions to the first one of this program."""

# The table has the name of the tool that the first revisions were run by.
_MARK = """
create table if not exists alembic_version (
    version_num varchar(32) not null constraint alembic_version_pkc primary key
);
"""


class RevisionError(OperatorError):
    """The database belongs to a newer program, or to one that is older than release 0.1.0."""


def revisions() -> list[Path]:
    """All revisions that this program has, oldest first."""
    return sorted(VERSIONS.glob("[0-9][0-9][0-9][0-9]_*"))


def statements(revision: Path) -> str:
    """The SQL of a revision."""
    files = sorted(revision.glob("*.sql")) if revision.is_dir() else [revision]
    return "\n".join(file.read_text() for file in files)


def first() -> str:
    """The oldest revision that this program can bring to the newest one."""
    return _number(revisions()[0])


def head() -> str:
    """The newest revision that this program has."""
    return _number(revisions()[-1])


async def current(connection: Connection) -> str | None:
    """The revision of the database; None when it is empty."""
    if await connection.fetchval("select to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("select version_num from alembic_version")
    return revision


def refuse_unknown(revision: str, what: str, made_by: str = "the version that made it") -> None:
    """Raises RevisionError where `what`, a database or a copy of one, is too new or too old.

    `made_by` is what the operator is to install for a newer one.
    """
    if revision > head():
        raise RevisionError(
            f"the {what} is at revision {revision}, newer than this program, which knows"
            f" {head()}: install {made_by}"
        )
    if revision < first():
        raise RevisionError(
            f"the {what} is at revision {revision}, older than {first()}, the first that this"
            f" program upgrades: use commit {_LAST_WITH_OLDER} of Roost, from before release"
            " 0.1.0, on it first"
        )


async def upgrade(dsn: str) -> None:
    """To the newest revision. Any number of processes may do this at once.

    All or nothing. Raises RevisionError for a database that this program does not know.
    """
    connection = await connect(dsn)
    try:
        if await current(connection) == head():
            return
        await connection.execute("select pg_advisory_lock($1)", _LOCK)
        found = await current(connection)
        if found is not None:
            refuse_unknown(found, "database")
        await _run(connection, [each for each in revisions() if _number(each) > (found or "")])
    finally:
        await connection.close()


async def _run(connection: Connection, missing: list[Path]) -> None:
    async with connection.transaction():
        await connection.execute(_MARK)
        for revision in missing:
            await connection.execute(statements(revision))
        await connection.execute("delete from alembic_version")
        await connection.execute("insert into alembic_version values ($1)", head())


def _number(revision: Path) -> str:
    return revision.name[:4]
