"""One moment of a state that is in use: of its database and of the files of its engines.

A step of a job first changes an engine and then commits. While the table of jobs is locked no step
can commit and none begins, so what an engine is ahead of the database is at most what a crash at
this moment would leave: the restored job runs that step again, which is harmless. The lock is held
only as long as it takes to begin reading; what is read then stays as it is, for PostgreSQL by an
exported snapshot and for SQLite by a transaction on its write-ahead log.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from roost.app.backup import queries
from roost.app.backup.archive import BackupError
from roost.app.backup.manifest import REGISTERS, ZONES
from roost.app.state import reachable
from roost.store import Connection
from roost.threads import DISK

_TRIES = 5
_PAUSE_SECONDS = 0.5
_FILE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Moment:
    """What can be read as it was."""

    dsn: str
    snapshot: str
    """Exported, of PostgreSQL."""
    db: Connection
    """In the transaction that holds the snapshot."""
    files: Mapping[str, sqlite3.Connection]
    """The engines' databases, by their path in the state."""


@asynccontextmanager
async def held(dsn: str, state: Path) -> AsyncIterator[Moment]:
    """Raises BackupError when jobs are so busy that there is no such moment."""
    names = await DISK.run(_engine_files, state)
    with ExitStack() as stack:
        async with (
            reachable(dsn) as quiet,
            reachable(dsn) as reader,
            reader.transaction(isolation="repeatable_read", readonly=True),
        ):
            async with _quiet(quiet):
                # A transaction sees what is there at its first query: that is here.
                files = await DISK.run(_begin, stack, state, names)
                snapshot = await queries.export_snapshot(reader)
            yield Moment(dsn, snapshot, reader, files)


@asynccontextmanager
async def _quiet(connection: Connection) -> AsyncIterator[None]:
    for attempt in range(_TRIES):
        transaction = connection.transaction()
        await transaction.start()
        try:
            await queries.hold_jobs(connection)
        except asyncpg.LockNotAvailableError:
            await transaction.rollback()
            await asyncio.sleep(_PAUSE_SECONDS * attempt)
            continue
        try:
            yield
        finally:
            await transaction.rollback()
        return
    raise BackupError("jobs cannot be paused for a moment: the database is too busy, try again")


def _engine_files(state: Path) -> list[str]:
    found = (*state.glob("simulated/*/*.sqlite3"), *state.glob(REGISTERS))
    paths = [state / ZONES, *sorted(found)]
    # The folder of zones is the name server's, and what it may link to is not.
    return [str(p.relative_to(state)) for p in paths if p.is_file() and not p.is_symlink()]


def _begin(stack: ExitStack, state: Path, names: Iterable[str]) -> Mapping[str, sqlite3.Connection]:
    begun = {}
    for name in names:
        connection = sqlite3.connect(
            state / name, timeout=_FILE_SECONDS, isolation_level=None, check_same_thread=False
        )
        begun[name] = stack.enter_context(closing(connection))
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return begun
