"""Where everything of one database is on the host."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Self

NUMBERS = (1, 2, 3)
"""The numbers of the nodes of a cluster."""

INSIDE = Path("/mnt")
"""What the server sees its folder as: nobody but root can pass through the state."""

_PREFIX = "database-"
_BACKUP, _ENDING = "backup-", ".zst"
_MB = 1024 * 1024
_LEAST_FILE = 16 * 1024
"""Bytes that a file counts at least: file systems have an inode for each so many, as a rule."""


@dataclass(frozen=True, slots=True)
class Folder:
    """`path` is the database's own; its backups are beside it and outlive what happens to it."""

    marker_option: ClassVar[str] = "--name"
    """The argument of the server that it has from nobody but us."""

    path: Path
    backups: Path

    @classmethod
    def of(cls, root: Path, database_id: int) -> Self:
        name = f"{_PREFIX}{database_id}"
        return cls((root / "databases" / name).absolute(), (root / "backups" / name).absolute())

    @property
    def clustered(self) -> bool:
        """Whether it has nodes, each in a folder of its own."""
        return self.node(1).path.is_dir()

    def node(self, number: int) -> Self:
        """The folder of a cluster's node."""
        return replace(self, path=self.path / f"node-{number}")

    def nodes(self) -> list[Self]:
        """The folders of a cluster's nodes, by number; else this one."""
        return [self.node(each) for each in NUMBERS] if self.clustered else [self]

    def all_nodes(self) -> list[Self]:
        """Whatever may have a port of its own."""
        return [self, *self.nodes()] if self.clustered else [self]

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def former_data(self) -> Path:
        """What a restore has replaced, until the restored data are served."""
        return self.path / "data.former"

    @property
    def new_data(self) -> Path:
        """What a restore is unpacking."""
        return self.path / "data.new"

    @property
    def temporary(self) -> Path:
        """Temporary tables; a server that starts removes all that it finds there."""
        return self.path / "tmp"

    @property
    def temporary_image(self) -> Path:
        """The file system that the server has there."""
        return self.path / "tmp.img"

    @property
    def pid_file(self) -> Path:
        return self.path / "pid"

    @property
    def log(self) -> Path:
        return self.path / "server.log"

    @property
    def words(self) -> Path:
        """What programs said that made or restored a backup."""
        return self.path / "backup.log"

    @property
    def marker(self) -> str:
        """The argument by which the server is told from all others of the host."""
        mark = sha256(str(self.path).encode()).hexdigest()[:12]
        return f"{self.marker_option}={self.path.name}.{mark}"

    @property
    def whole(self) -> bool:
        """Whether it was completed once."""
        return (self.path / "whole").exists()

    def complete(self) -> None:
        (self.path / "whole").touch()

    @property
    def port(self) -> int | None:
        return int(self.read("port") or 0) or None

    def set_port(self, port: int) -> None:
        self.write("port", str(port))

    @property
    def version(self) -> str:
        """The version of the server that was started last."""
        return self.read("version")

    def set_version(self, version: str) -> None:
        self.write("version", version)

    @property
    def disk(self) -> int | None:
        """MB that the plan has; None of a server that was not started since this is written."""
        return int(self.read("disk") or 0) or None

    def set_disk(self, disk: int) -> None:
        self.write("disk", str(disk))

    def backup(self, backup_id: int) -> Path:
        return self.backups / f"{_BACKUP}{backup_id}{_ENDING}"

    def backup_ids(self) -> tuple[int, ...]:
        """Also of those that are only begun."""
        if not self.backups.is_dir():
            return ()
        names = {path.name.removesuffix(".part") for path in self.backups.glob(f"{_BACKUP}*")}
        return tuple(
            sorted(int(name.removeprefix(_BACKUP).removesuffix(_ENDING)) for name in names)
        )

    def used(self) -> int:
        """MB of disk that all but temporary files take; each file takes an inode, too."""
        total = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                path = os.path.join(folder, name)
                if path != str(self.temporary_image):
                    total += max(_allocated(path), _LEAST_FILE)
        return -(-total // _MB)

    def used_temporarily(self) -> int:
        """MB of disk that temporary files take, also those without a name."""
        return -(-_allocated(self.temporary_image) // _MB)

    def remove(self) -> None:
        for path in (self.path, self.backups):
            if path.is_dir():
                shutil.rmtree(path)

    def read(self, name: str) -> str:
        """ "" when there is none."""
        try:
            return (self.path / name).read_text()
        except FileNotFoundError:
            return ""

    def write(self, name: str, text: str) -> None:
        """For root's eyes, and for good."""
        partial = self.path / f"{name}.part"
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.path / name)
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def ids_in(root: Path) -> list[int]:
    """The databases of which something is there."""
    found = set[int]()
    for kind in ("databases", "backups"):
        if (root / kind).is_dir():
            names = (path.name for path in (root / kind).iterdir())
            found |= {int(name.removeprefix(_PREFIX)) for name in names if _is_ours(name)}
    return sorted(found)


def _allocated(path: str | Path) -> int:
    """Bytes; none of what is gone, as a server makes and drops files all the time."""
    with suppress(FileNotFoundError):
        return os.lstat(path).st_blocks * 512
    return 0


def _is_ours(name: str) -> bool:
    return name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isdecimal()
