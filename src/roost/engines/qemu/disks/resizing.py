"""Disks of another size.

A disk shrinks, or grows with its file system, as a copy that then takes its place: a host that
fails or fills up in the middle leaves the disk as it was.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.qemu.disks.making import begin_part, make_empty_part
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import MB, DiskFile, Place
from roost.engines.qemu.guests.users import run_for
from roost.resources.compute.disk_engine import DiskSpec
from roost.threads import DISK

_DOING = "The disk could not be resized"
_REPAIRED = (0, 1, 2)
"""Exit codes of e2fsck for a file system without faults, or without faults now."""
_EXT = (1080, b"\x53\xef")
_SWAP = (4086, b"SWAPSPACE2")
"""What such a content is known by, and where that is."""
_PIECE = 4 * MB


async def resize_disk(guest: Guest, disk: DiskSpec, found: DiskFile) -> None:
    """EngineError, and an unchanged disk, when what it holds needs more room."""
    grows = disk.size * MB > found.size()
    if grows and _grows_in_place(guest, disk, found):
        grow = ("qemu-img", "resize", "-q", "-f", found.format, found.path.name)
        await run_for(guest, _DOING, *grow, f"{disk.size}M")
    else:
        await resize_copy(guest, disk, found.path.name, found)
        await DISK.run(guest.disk(disk.id).put, "raw")


async def resize_copy(guest: Guest, disk: DiskSpec, source: str, found: DiskFile) -> None:
    """Make the raw part of the disk from the file `source` of the guest's directory."""
    place = guest.disk(disk.id)
    os.close(begin_part(guest, place, "raw"))
    part = place.part("raw")
    convert = ("qemu-img", "convert", "-f", found.format, "-O", "raw", source, part.name)
    await run_for(guest, _DOING, *convert)
    if _holds(part, _EXT):
        await _fit_ext(guest, place, disk.size * MB)
    elif disk.filesystem == "swap" and _holds(part, _SWAP):
        await make_empty_part(guest, disk)
    else:
        await DISK.run(_cut, part, disk.size * MB)


def _grows_in_place(guest: Guest, disk: DiskSpec, found: DiskFile) -> bool:
    """The guest of an image lets its file system grow itself; other contents have none."""
    if found.format == "qcow2" and guest.disk(disk.id).image() is not None:
        return True
    return disk.filesystem not in ("ext3", "ext4", "swap")


async def _fit_ext(guest: Guest, place: Place, size: int) -> None:
    """A file system that spans the whole disk follows the disk's size."""
    part = place.part("raw")
    await run_for(guest, _DOING, "e2fsck", "-f", "-p", part.name, ok=_REPAIRED)
    os.truncate(part, max(size, part.stat().st_size))
    await run_for(guest, _DOING, "resize2fs", part.name, f"{size // 1024}K")
    os.truncate(part, size)


def _cut(part: Path, size: int) -> None:
    """Cut a disk without a known file system: only zeros are cut off. Raises EngineError."""
    with part.open("rb") as file:
        if any(piece.strip(b"\0") for piece in _pieces(file.fileno(), size)):
            raise EngineError(f"{_DOING}: what it holds needs more room")
    os.truncate(part, size)


def _pieces(descriptor: int, start: int) -> Iterator[bytes]:
    """What the file holds from `start` on, without its holes."""
    end = os.fstat(descriptor).st_size
    while start < end:
        try:
            start = os.lseek(descriptor, start, os.SEEK_DATA)
        except OSError:  # There is nothing but a hole.
            return
        piece = os.pread(descriptor, _PIECE, start)
        yield piece
        start += len(piece)


def _holds(path: Path, content: tuple[int, bytes]) -> bool:
    place, mark = content
    with path.open("rb") as file:
        file.seek(place)
        return file.read(len(mark)) == mark
