"""Large files in pieces, each kept once in a folder that any number of backups share.

A piece is named by the SHA-256 of what it holds: one that an earlier backup has brought is there
already, and damage is found. New ones get their names when all of them are on the disk, so that a
named one is whole. All of this blocks: for a thread.
"""

import hashlib
import os
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from roost.app.backup.archive import BackupError
from roost.engines.locks import try_lock

_PIECE = 1 << 20
_NEW = "new"
_LEVEL = 1
"""Of zlib: disks are large, and most of what can be saved is saved by not keeping a piece twice."""

_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Contents(BaseModel):
    """What a file consists of."""

    model_config = ConfigDict(frozen=True)

    size: Annotated[int, Field(ge=0)]
    """Bytes."""
    pieces: dict[Annotated[int, Field(ge=0)], _Digest]
    """By their number; those that are not there are zeros."""


@dataclass(slots=True)
class Pieces:
    """A folder of pieces, held by one program at a time."""

    folder: Path
    added: int = 0
    """Bytes that new pieces take."""

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator["Pieces"]:
        """Made where it is not there. Raises BackupError while another program has it."""
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not try_lock(descriptor):
                raise BackupError(f"{folder} is in use by another backup or restore")
            yield cls(folder)
        finally:
            os.close(descriptor)

    def begin(self) -> None:
        """Forget what a backup that was killed has left."""
        shutil.rmtree(self.folder / _NEW, ignore_errors=True)
        (self.folder / _NEW).mkdir(mode=0o700)

    def put(self, source: Path) -> Contents:
        """Keep a file; `settle` makes what is new of it last."""
        pieces = dict[int, str]()
        with source.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for number in _numbers(file.fileno(), size):
                data = os.pread(file.fileno(), _PIECE, number * _PIECE)
                if data.count(0) < len(data):
                    pieces[number] = self._keep(data)
        return Contents(size=size, pieces=pieces)

    def settle(self) -> None:
        """Give new pieces their names."""
        os.sync()
        for path in (self.folder / _NEW).iterdir():
            target = self._path(path.name)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            path.rename(target)
        (self.folder / _NEW).rmdir()
        os.sync()

    def missing(self, contents: Iterable[Contents]) -> int:
        """How many pieces of these files are not there."""
        return sum(not self._path(digest).exists() for digest in _all(contents))

    def get(self, contents: Contents, target: Path) -> None:
        """Write a file anew, private. Raises BackupError when a piece is missing or damaged."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(target, flags, 0o600)
        try:
            os.truncate(descriptor, contents.size)
            for number, digest in contents.pieces.items():
                data = self.read(digest)
                if number * _PIECE + len(data) > contents.size:
                    raise BackupError("the backup is damaged: a file is longer than it was")
                _write_at(descriptor, data, number * _PIECE)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read(self, digest: str) -> bytes:
        """Raises BackupError when it is missing or damaged."""
        try:
            packed = self._path(digest).read_bytes()
            data = zlib.decompressobj().decompress(packed, _PIECE)
        except (FileNotFoundError, zlib.error):
            data = b""
        if hashlib.sha256(data).hexdigest() != digest:
            raise BackupError(f"the piece {digest} in {self.folder} is missing or damaged")
        return data

    def prune(self, kept: Collection[str]) -> tuple[int, int]:
        """Remove all other pieces; how many those were, and their bytes."""
        number = room = 0
        for path in self.folder.glob("[0-9a-f][0-9a-f]/*"):
            if path.name not in kept:
                room += path.stat().st_size
                number += 1
                path.unlink()
        shutil.rmtree(self.folder / _NEW, ignore_errors=True)
        return number, room

    def _keep(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        path = self.folder / _NEW / digest
        if not self._path(digest).exists() and not path.exists():
            packed = zlib.compress(data, _LEVEL)
            path.write_bytes(packed)
            path.chmod(0o600)
            self.added += len(packed)
        return digest

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest


def digests(contents: Iterable[Contents]) -> set[str]:
    """The digests of all pieces of these files."""
    return set(_all(contents))


def _all(contents: Iterable[Contents]) -> Iterator[str]:
    return (digest for each in contents for digest in each.pieces.values())


def _numbers(descriptor: int, size: int) -> Iterator[int]:
    """The numbers of pieces that are not wholly in holes of the file."""
    last, position = -1, 0
    while position < size:
        try:
            start = os.lseek(descriptor, position, os.SEEK_DATA)
        except OSError:  # Only a hole is left.
            return
        position = os.lseek(descriptor, start, os.SEEK_HOLE)
        first = max(last + 1, start // _PIECE)
        last = (position - 1) // _PIECE
        yield from range(first, last + 1)


def _write_at(descriptor: int, data: bytes, position: int) -> None:
    written = 0
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], position + written)
