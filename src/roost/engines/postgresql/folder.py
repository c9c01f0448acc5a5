"""Where everything of one PostgreSQL database is on the host."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from roost.engines.databases import folder
from roost.engines.databases.folder import INSIDE

SOCKETS = INSIDE / "run"
"""What the server calls the folder of its socket."""
ARCHIVE = INSIDE / "wal"
"""Where it puts the log of writes, for Roost to take."""
REPLICATION = INSIDE / "replication.conf"
"""Whom a node of a cluster follows, or who follows it."""
PASSWORDS = INSIDE / "passwords"
"""By which it is let in there."""


@dataclass(frozen=True, slots=True)
class Folder(folder.Folder):
    """With what PostgreSQL's servers have."""

    marker_option: ClassVar[str] = "--cluster-name"

    @property
    def configuration(self) -> Path:
        return self.path / "postgresql.conf"

    @property
    def access(self) -> Path:
        """Who may log in from where."""
        return self.path / "pg_hba.conf"

    @property
    def passwords(self) -> Path:
        """Only nodes of clusters have it."""
        return self.path / PASSWORDS.name

    @property
    def identities(self) -> Path:
        """Who of the host is the administrator."""
        return self.path / "pg_ident.conf"

    @property
    def temporary(self) -> Path:
        """Temporary files; a server that starts removes all that it finds there."""
        return self.data / "base" / "pgsql_tmp"

    @property
    def sockets(self) -> Path:
        return self.path / SOCKETS.name

    @property
    def socket(self) -> Path:
        """The socket of the administrator, which Roost is."""
        return self.sockets / f".s.PGSQL.{self.port}"

    @property
    def archive(self) -> Path:
        """Whole segments of the log of writes, until Roost takes them."""
        return self.path / ARCHIVE.name

    @property
    def replay(self) -> Path:
        """Segments that a fork is made of."""
        return self.path / "replay"

    @property
    def major(self) -> str:
        """The release series of its data; "" without any."""
        return major_of(self.data)


def major_of(data: Path) -> str:
    """The release series of a data folder; "" of one that is none."""
    try:
        return (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        return ""
