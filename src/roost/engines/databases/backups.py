"""Copies of a database's data: where they are, and how they come into use."""

import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.databases.folder import Folder
from roost.threads import DISK


async def swap(
    folder: Folder, serve: Callable[[], Awaitable[object]], stop: Callable[[], Awaitable[None]]
) -> None:
    """Let what was unpacked be served; the former data are, when it is of no use.

    No server runs. A kill leaves the former data, or those in their place.
    """
    folder.data.rename(folder.former_data)
    folder.new_data.rename(folder.data)
    try:
        await serve()
    except EngineError:
        await stop()
        await DISK.finish(_put_back, folder)
        await serve()
        raise
    await DISK.finish(remove, folder.former_data)


async def settle(folder: Folder) -> None:
    """End what was begun by somebody who was killed."""
    if folder.former_data.is_dir() and not folder.data.is_dir():
        folder.former_data.rename(folder.data)
    await DISK.finish(remove, folder.new_data)
    await DISK.finish(remove, folder.former_data)


def _put_back(folder: Folder) -> None:
    folder.data.rename(folder.new_data)
    folder.former_data.rename(folder.data)
    remove(folder.new_data)


def replace(folder: Folder) -> None:
    """What was made beside the data takes their place, at once and for good."""
    remove(folder.data)
    folder.new_data.rename(folder.data)


def remove(path: Path) -> None:
    """A folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)


def discard(folder: Folder, backup_id: int) -> None:
    whole = folder.backup(backup_id)
    whole.with_name(f"{whole.name}.part").unlink(missing_ok=True)
    whole.unlink(missing_ok=True)


def empty(path: Path) -> None:
    """A folder that nobody else looks into, with nothing in it."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700)


def make_durable(partial: Path, whole: Path) -> None:
    """From now on also after a loss of power."""
    for path in (partial, partial.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    partial.replace(whole)


def link(path: Path, place: Path) -> Path:
    """A file of this name in a folder, which nobody takes away any more. EngineError where it has
    gone."""
    target = place / path.name
    try:
        with suppress(OSError):
            os.link(path, target)
            return target
        shutil.copy2(path, target)  # Another file system.
    except FileNotFoundError as error:
        raise EngineError("The database could not be forked: a backup has gone") from error
    return target
