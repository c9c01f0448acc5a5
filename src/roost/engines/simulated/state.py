"""Durable state of a simulated data plane: JSON documents in one SQLite file.

The file outlives the processes that use it, as a real data plane outlives the control plane, and
several processes may use it at once. A process killed at any point leaves whole transactions.

A commit does not wait for the disk. So a transaction of a few small documents takes less time than
it takes to hand it to a thread and back, and is done on the event loop; a checkpoint of SQLite's
log, which does wait for the disk, is a thread's.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from roost.threads import STATE

_Result = TypeVar("_Result")
_DUMP = TypeAdapter(list[tuple[str, str, str]])
_LOCK_SECONDS = 30.0
_PAUSE_SECONDS = 0.01
_CHECKPOINT = 500
"""Transactions on the event loop after which a thread writes the log into the file."""
_LAST = "\U0010ffff"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS document (
  kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID
"""


class Documents:
    """The documents as one transaction sees and changes them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def read(self, kind: str, name: str) -> str | None:
        row: tuple[str] | None = self._connection.execute(
            "SELECT body FROM document WHERE kind = ? AND name = ?", (kind, name)
        ).fetchone()
        return None if row is None else row[0]

    def read_all(self, kind: str, prefix: str = "") -> dict[str, str]:
        """Bodies by name, of the names that begin so."""
        rows = self._connection.execute(
            "SELECT name, body FROM document WHERE kind = ? AND name >= ? AND name < ?",
            (kind, prefix, prefix + _LAST),
        )
        return dict(rows.fetchall())

    def write(self, kind: str, name: str, body: str | None) -> None:
        """None removes it."""
        if body is None:
            query, values = "DELETE FROM document WHERE kind = ? AND name = ?", (kind, name)
            self._connection.execute(query, values)
        else:
            self._connection.execute("REPLACE INTO document VALUES (?, ?, ?)", (kind, name, body))


class StateFile:
    """Documents by kind and name. The file is made when it is first used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._own: sqlite3.Connection | None = None
        """That of the event loop, which waits for nobody."""
        self._left = _CHECKPOINT

    async def transact(self, work: Callable[[Documents], _Result]) -> _Result:
        """What `work` returns; what it wrote is kept, or nothing of it when it raises."""
        return await self._run(lambda connection: work(Documents(connection)))

    async def transact_few(self, work: Callable[[Documents], _Result]) -> _Result:
        """Run work on a few small documents, as `transact` does, on the event loop where nobody
        else writes at the moment."""
        connection = self._own
        if connection is None or not self._left or not _begin(connection):
            return await self.transact(work)
        self._left -= 1
        with connection:
            return work(Documents(connection))

    async def read(self, kind: str, name: str) -> str | None:
        return await self.transact(lambda documents: documents.read(kind, name))

    async def read_all(self, kind: str) -> dict[str, str]:
        """Bodies by name."""
        return await self.transact(lambda documents: documents.read_all(kind))

    async def change(
        self, kind: str, name: str, change: Callable[[str | None], str | None]
    ) -> str | None:
        """Replace a document by what `change` makes of it, in one transaction; None removes it.

        Returns what the document was before.
        """

        def replace(documents: Documents) -> str | None:
            before = documents.read(kind, name)
            after = change(before)
            if after != before:
                documents.write(kind, name, after)
            return before

        return await self.transact(replace)

    async def dump(self) -> bytes:
        """Every document, for `load`."""

        def query(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
            rows = connection.execute("SELECT kind, name, body FROM document ORDER BY kind, name")
            return rows.fetchall()

        return _DUMP.dump_json(await self._run(query))

    async def load(self, dumped: bytes) -> None:
        """Replace every document by those of a dump. Raises ValueError when it is not one."""
        documents = _DUMP.validate_json(dumped)

        def query(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM document")
            connection.executemany("INSERT INTO document VALUES (?, ?, ?)", documents)

        await self._run(query)

    def close(self) -> None:
        with self._mutex:
            for connection in (self._connection, self._own):
                if connection is not None:
                    connection.close()
            self._connection = self._own = None

    async def _run(self, query: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await STATE.run(self._transact, query)

    def _transact(self, query: Callable[[sqlite3.Connection], _Result]) -> _Result:
        with self._mutex:
            if self._connection is None:
                self._connection = _open(self._path)
                self._own = _connect(self._path, 0)
                self._own.execute("PRAGMA wal_autocheckpoint = 0")
            connection = self._connection
            if not self._left:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._left = _CHECKPOINT
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                return query(connection)


def _begin(connection: sqlite3.Connection) -> bool:
    """False when somebody else writes; and whatever else is wrong, a thread will find."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True


def _insist(connection: sqlite3.Connection, statement: str) -> None:
    """Who opens a file, or closes it as the last one, gets into the way of others that open it;
    SQLite does not always wait for them."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # It holds keys of zones; what SQLite puts beside it has its mode.
    path.touch()
    path.chmod(0o600)
    connection = _connect(path, _LOCK_SECONDS)
    _insist(connection, "PRAGMA journal_mode = WAL")
    connection.execute(_SCHEMA)
    return connection


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    """`patience`: seconds to wait for others that write."""
    connection = sqlite3.connect(
        path, timeout=patience, isolation_level=None, check_same_thread=False
    )
    _insist(connection, "PRAGMA synchronous = NORMAL")
    return connection
