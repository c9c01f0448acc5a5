"""Files that callers send in pieces, kept by number until a job has taken them over.

All processes that receive such files and those that work on them share the folder.
"""

import fcntl
import os
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

_BLOCK = 64 * 1024
_ZEROS = bytes(_BLOCK)
_PART = ".part"


class SpoolBusyError(Exception):
    """Somebody else is writing the file."""


@dataclass(slots=True)
class SparseFile:
    """A file that is being written, by one only; zeros take no room. Its methods block."""

    path: Path
    file: FileIO
    size: int = 0

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _BLOCK):
            block = data[start : start + _BLOCK]
            if block != _ZEROS[: len(block)]:
                _write_all(self.file.fileno(), block, self.size)
            self.size += len(block)

    def finish(self) -> None:
        """Let it be there under its number, for good."""
        self.file.truncate(self.size)
        os.fsync(self.file.fileno())
        self.path.replace(self.path.with_suffix(""))

    def discard(self) -> None:
        """Forget what has not been finished."""
        if self.file.closed:
            return
        if _is_at(self.file, self.path):
            self.path.unlink()
        self.file.close()


@dataclass(frozen=True, slots=True)
class Spool:
    """A folder of such files. Its methods block."""

    root: Path

    def path(self, number: int) -> Path:
        """Where a file is, once it is whole."""
        return self.root / str(number)

    def open(self, number: int) -> SparseFile:
        """A new, empty file; SpoolBusyError while another is being written with this number."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.root / f"{number}{_PART}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Whoever forgets it lets go of it, so that no upload is locked out.
        file = FileIO(descriptor, "r+")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SpoolBusyError from None
        if not _is_at(file, path):
            raise SpoolBusyError
        file.truncate(0)
        return SparseFile(path, file)

    def remove(self, number: int) -> None:
        """Whole or begun; nothing happens when it is not there."""
        self.path(number).unlink(missing_ok=True)
        (self.root / f"{number}{_PART}").unlink(missing_ok=True)

    def numbers(self) -> set[int]:
        """The numbers of all files, also of those that are only begun."""
        if not self.root.exists():
            return set()
        names = (path.name.removesuffix(_PART) for path in self.root.iterdir())
        return {int(name) for name in names if name.isdecimal()}


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
