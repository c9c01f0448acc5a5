"""Files that outlive a loss of power, and directories that go to another region's state."""

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from roost.engines.qemu.host.programs import run
from roost.threads import DISK


def sync(*paths: Path) -> None:
    """Wait until files and directories are on the disk as they are now.

    A file that has got another name is there under it once its directory is.
    """
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_DOING = "Its files could not be moved"


async def move(source: Path, target: Path) -> None:
    """Let a directory be `target`, for good; nothing happens when there is no `source`.

    What is on another file system is copied, and appears under its name when the copy is whole. A
    `target` beside its `source` is such a copy, of which an interrupted attempt left the original.
    Raises OSError and EngineError.
    """
    if not await DISK.run(_rename, source, target):
        await _copy(source, target)
    await DISK.run(_discard, source)


def _rename(source: Path, target: Path) -> bool:
    """False when it has to be copied."""
    _discard(_part(source))  # Of a move the other way, which was given up.
    if not source.exists():
        return True
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):
        target.rmdir()  # Only an empty one, which nothing was copied to.
    if target.exists():
        return True
    try:
        source.rename(target)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return False
        raise
    sync(target.parent, source.parent)
    return True


async def _copy(source: Path, target: Path) -> None:
    """With owners, links and holes."""
    part = _part(target)
    await DISK.run(_discard, part)
    try:
        await run(_DOING, "cp", "--archive", "--sparse=always", "--", str(source), str(part))
        await DISK.run(_put, part, target)
    except BaseException:
        _discard(part)
        raise


def _put(part: Path, target: Path) -> None:
    sync(*(path for path in part.rglob("*") if path.is_file() or path.is_dir()), part)
    part.rename(target)
    sync(target.parent)


def _part(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.moving")


def _discard(directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)
