"""Where PowerDNS keeps its zones: a file of its own, or a PostgreSQL database."""

import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from roost.engines.powerdns.config import postgres_backend, sqlite_backend
from roost.engines.powerdns.postgres import SCHEMA, ensure_tables
from roost.threads import DISK

_SCHEMA = Path("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql")
_FILE = "pdns.db"


class Backend(Protocol):
    """`serial`: changes must come one after another."""

    @property
    def serial(self) -> bool: ...

    @property
    def confined(self) -> bool:
        """Whether the server needs nothing outside its data folder."""

    @property
    def label(self) -> str:
        """As operators are told."""

    @property
    def package(self) -> str:
        """The Debian package of its module."""

    @property
    def schema(self) -> Path:
        """A file that comes with the package."""

    def settings(self, folder: str) -> Mapping[str, str]:
        """As in `pdns.conf`, for a data folder that the server sees under this path."""

    async def prepare(self, folder: Path, owner: tuple[int, int]) -> None:
        """Make what the server does not make itself. Raises OSError."""


@dataclass(frozen=True, slots=True)
class SqliteBackend:
    """One file in the data folder."""

    serial: bool = True
    confined: bool = True
    label: str = "a file of its own"
    package: str = "pdns-backend-sqlite3"
    schema: Path = _SCHEMA

    def settings(self, folder: str) -> Mapping[str, str]:
        return sqlite_backend(f"{folder.rstrip('/')}/{_FILE}")

    async def prepare(self, folder: Path, owner: tuple[int, int]) -> None:
        await DISK.run(self._prepare, folder, owner)

    def _prepare(self, folder: Path, owner: tuple[int, int]) -> None:
        # Made where the server cannot put a link in our way.
        path, fresh = folder / _FILE, folder.parent / "fresh.db"
        if path.exists():
            return
        fresh.unlink(missing_ok=True)
        with closing(sqlite3.connect(fresh)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(self.schema.read_text())
        shutil.chown(fresh, *owner)
        fresh.chmod(0o600)
        os.replace(fresh, path)


@dataclass(frozen=True, slots=True)
class PostgresBackend:
    """A database that several servers may share."""

    url: str
    serial: bool = False
    confined: bool = False
    label: str = "PostgreSQL"
    package: str = "pdns-backend-pgsql"
    schema: Path = SCHEMA

    def settings(self, folder: str) -> Mapping[str, str]:
        return postgres_backend(self.url)

    async def prepare(self, folder: Path, owner: tuple[int, int]) -> None:
        await ensure_tables(self.url)
