"""A backup as a file: a line with a checksum of all the rest, then a zip archive.

The line lets a reader refuse a damaged file whatever byte is wrong, also one that zip ignores. The
archive's manifest has a checksum of each member. All of this blocks: for a thread.
"""

import hashlib
import json
import os
import re
import zlib
from collections import Counter
from contextlib import suppress
from typing import IO, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pydantic import ValidationError

from roost.app.backup.manifest import FORMAT, KNOWN_FORMATS, MANIFEST, Manifest, Member, Origin
from roost.errors import OperatorError

_LINE = "roost-backup {}\n"
_LINE_BYTES = len(_LINE.format("0" * 64))
_CHUNK = 1 << 20
_BROKEN = (
    BadZipFile,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    zlib.error,
)


class BackupError(OperatorError):
    """A file is no backup, is damaged, or cannot be restored by this program."""


class Writer:
    """A backup being written to a file that is open for reading too."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._members: list[Member] = []
        file.write(_LINE.format("0" * 64).encode())
        self._zip = ZipFile(file, "w")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; nobody minds what one ends with that is given up."""
        with suppress(ValueError, OSError):
            self._zip.close()

    def add(self, name: str, source: IO[bytes], *, packed: bool = False) -> None:
        """All that `source` gives from here on; `packed` when it is compressed already."""
        entry = ZipInfo(name)
        entry.compress_type = ZIP_STORED if packed else ZIP_DEFLATED
        digest, size = hashlib.sha256(), 0
        with self._zip.open(entry, "w", force_zip64=True) as target:
            while chunk := source.read(_CHUNK):
                target.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self._members.append(Member(name=name, size=size, sha256=digest.hexdigest()))

    def finish(self, origin: Origin) -> int:
        """Make the file whole and durable; returns its size in bytes."""
        manifest = Manifest(format=FORMAT, members=self._members, **origin.model_dump())
        self._zip.writestr(MANIFEST, manifest.model_dump_json(indent=1))
        self._zip.close()
        digest = _digest_of_rest(self._file)
        size = self._file.tell()
        self._file.seek(0)
        self._file.write(_LINE.format(digest).encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        return size


class Reader:
    """A backup that is whole."""

    def __init__(self, zipped: ZipFile, manifest: Manifest) -> None:
        self._zip = zipped
        self.manifest = manifest

    @classmethod
    def open(cls, file: IO[bytes]) -> "Reader":
        """Reads all of the file. Raises BackupError unless every byte is as it was written."""
        _check_line(file)
        try:
            zipped = ZipFile(file)
            manifest = _read_manifest(zipped)
            found = Counter(zipped.namelist())
            if found != Counter([MANIFEST, *manifest.names]):
                raise BackupError("the backup has other members than its manifest")
            reader = cls(zipped, manifest)
            for member in manifest.members:
                reader._check(member)
        except _BROKEN:
            raise BackupError("the backup is damaged") from None
        return reader

    def stream(self, name: str) -> IO[bytes]:
        return self._zip.open(name)

    def read(self, name: str) -> bytes:
        return self._zip.read(name)

    def _check(self, member: Member) -> None:
        digest, size = hashlib.sha256(), 0
        with self.stream(member.name) as source:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
        if (size, digest.hexdigest()) != (member.size, member.sha256):
            raise BackupError(f"the backup is damaged: {member.name} is not what was saved")


def _check_line(file: IO[bytes]) -> None:
    line = file.read(_LINE_BYTES)
    found = re.fullmatch(rb"roost-backup ([0-9a-f]{64})\n", line)
    if found is None:
        raise BackupError("this is no backup of Roost, or its beginning is damaged")
    if _digest_of_rest(file) != found[1].decode():
        raise BackupError("the backup is damaged or not whole: its checksum is another one")


def _digest_of_rest(file: IO[bytes]) -> str:
    """SHA-256 of all that follows the first line."""
    file.seek(_LINE_BYTES)
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _read_manifest(zipped: ZipFile) -> Manifest:
    """The format is looked at first: another one may have another manifest."""
    written = zipped.read(MANIFEST)
    parsed = json.loads(written)
    if not isinstance(parsed, dict) or parsed.get("format") not in KNOWN_FORMATS:
        raise BackupError("the backup has a format that this Roost does not know")
    try:
        return Manifest.model_validate_json(written)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise BackupError(f"the backup's manifest is refused: {reason}") from None
