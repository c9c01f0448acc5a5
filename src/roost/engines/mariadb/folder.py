"""Where everything of one MariaDB database is on the host."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from roost.engines.databases import folder


@dataclass(frozen=True, slots=True)
class Folder(folder.Folder):
    """With what MariaDB's servers have."""

    marker_option: ClassVar[str] = "--report-host"

    @property
    def configuration(self) -> Path:
        return self.path / "my.cnf"

    @property
    def files(self) -> Path:
        """Where statements may read and write files: the server cannot even look into it."""
        return self.path / "files"

    @property
    def socket(self) -> Path:
        """The socket of the administrator."""
        return self.path / "socket"

    @property
    def whose(self) -> str:
        """The argument by which people tell the server from others: its folder. It is the suffix of
        groups of options, of which none has it."""
        return f"--defaults-group-suffix={self.path}"
