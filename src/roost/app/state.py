"""The folder of all state and the database in it, for commands that need no more."""

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from roost.errors import OperatorError
from roost.settings import Settings
from roost.store import FAULTS, Connection, Store, migrate
from roost.store.pool import connect

_log = structlog.get_logger(__name__)

RESTORING = ".restoring"
"""The folder in which a restore makes a state; one that ended too soon has left it."""

_OTHERS = 0o066
"""That others than its owner may read and write a folder."""


class UnfinishedRestoreError(OperatorError):
    """The state is not whole: a restore of it runs, or was killed."""


class UnreachableError(OperatorError):
    """The database does not answer, or does not let us in."""


@asynccontextmanager
async def reachable(dsn: str) -> AsyncIterator[Connection]:
    """One connection, closed at the end. Raises UnreachableError."""
    try:
        connection = await connect(dsn)
    except FAULTS as error:
        raise _unreachable(error) from error
    try:
        yield connection
    finally:
        await connection.close()


def _unreachable(error: Exception) -> UnreachableError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return UnreachableError(f"the database does not answer: {reason}")


def refuse_unfinished(state: Path) -> None:
    """Raises UnfinishedRestoreError before anything is made that the next restore would meet."""
    if (state / RESTORING).exists():
        raise UnfinishedRestoreError(
            f"{state} is not whole, as a restore of it has not ended: run `roost restore`"
            " again, and then this"
        )


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """The database with all tables; closed again at the end.

    Raises UnfinishedRestoreError, UnreachableError, or RevisionError for a database of a newer
    Roost.
    """
    refuse_unfinished(settings.state)
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    _keep_private(settings.state)
    try:
        store = await Store.open(settings)
    except FAULTS as error:
        raise _unreachable(error) from error
    try:
        await migrate.upgrade(store.dsn)
        yield store
    finally:
        await store.close()


def _keep_private(state: Path) -> None:
    """Nobody else looks into the folder. That somebody may pass through it stays as it is: the
    user who runs PostgreSQL for root may have to."""
    mode = stat.S_IMODE(state.stat().st_mode)
    if mode & _OTHERS:
        try:
            state.chmod(mode & ~_OTHERS)
        except PermissionError:
            _log.warning("state_not_private", state=str(state), mode=f"{mode:o}")
        else:
            _log.warning("state_made_private", state=str(state), mode=f"{mode:o}")
