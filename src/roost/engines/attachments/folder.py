"""Attachments as files of one folder."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from roost.core.engine import Health
from roost.resources.support.engine import (
    AttachmentMissingError,
    AttachmentStoreError,
    StoredFile,
)
from roost.threads import DISK

_DRAFT = ".draft-"
_OURS = re.compile(r"(?:\.draft-)?[0-9a-f]{32}")


class AttachmentFolder:
    """An AttachmentStore. Other files in the folder are left alone."""

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def health(self) -> Health:
        try:
            free = (await DISK.run(os.statvfs, self._folder.parent)).f_bavail
        except OSError as error:
            return Health(False, str(error))
        return Health(free > 0, "files" if free > 0 else "the disk is full")

    async def close(self) -> None:
        """Nothing is open."""

    async def put(self, key: str, content: bytes) -> None:
        await self._call(lambda: self._write(key, content))

    async def get(self, key: str) -> bytes:
        try:
            return await DISK.run(self._path(key).read_bytes)
        except FileNotFoundError:
            raise AttachmentMissingError(f"there is no file {key}") from None
        except OSError as error:
            raise AttachmentStoreError(str(error)) from error

    async def delete(self, key: str) -> None:
        await self._call(lambda: self._path(key).unlink(missing_ok=True))

    async def list(self) -> list[StoredFile]:
        try:
            found = await DISK.run(lambda: list(self._files()))
        except OSError as error:
            raise AttachmentStoreError(str(error)) from error
        return sorted(found, key=lambda file: file.key)

    def _files(self) -> Iterator[StoredFile]:
        if not self._folder.is_dir():
            return
        for entry in os.scandir(self._folder):
            if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                yield StoredFile(entry.name, stat.st_size, time.time() - stat.st_mtime)

    def _write(self, key: str, content: bytes) -> None:
        path, draft = self._path(key), self._path(_DRAFT + key)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        try:
            opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(opened, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(path)
            self._sync_folder()
        except OSError:
            draft.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise

    def _sync_folder(self) -> None:
        """So that the new name survives a crash of the machine."""
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _path(self, key: str) -> Path:
        if not _OURS.fullmatch(key):
            raise ValueError(f"{key!r} is not the key of an attachment")
        return self._folder / key

    async def _call(self, work: Callable[[], None]) -> None:
        try:
            await DISK.run(work)
        except OSError as error:
            raise AttachmentStoreError(str(error)) from error
