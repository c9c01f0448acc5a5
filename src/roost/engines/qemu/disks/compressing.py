"""Images out of disks of guests: compressed qcow2 files that rest on nothing else."""

import os
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.disks.copies import convert, copy_disks, measure, sink
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import MB, DiskFile, Place
from roost.engines.qemu.guests.users import user_of
from roost.engines.qemu.images.store import INFO, ROOT, Draft, GuestImage, ImageInfo
from roost.resources.compute.disk_engine import Progress, TooLargeError
from roost.threads import DISK

DOING = "The image could not be made"
_BLOCK = 512
"""Bytes of the unit in which the host counts what a file takes."""


async def capture(
    draft: Draft, guest: Guest, disk_id: int, most: int, progress: Progress
) -> ImageInfo:
    """Make the image of a disk as of one moment. Raises TooLargeError."""
    async with locked(guest.directory):
        found = whole(guest, disk_id)
        rests = disk_id not in guest.disks_in_use()
        # What it counts too much is zeros that were written: only a copy tells them apart.
        if rests and await measure(guest, found, DOING) <= most * MB:
            return await compress(draft, guest, disk_id, progress)
    return await _copy_and_compress(draft, guest, disk_id, most, progress)


async def compress(draft: Draft, guest: Guest, disk_id: int, progress: Progress) -> ImageInfo:
    """Compress a disk to which nobody writes, so that it need not be copied before."""
    found, image = whole(guest, disk_id), Place(draft.image, disk_id)
    origin = guest.disk(disk_id).image()
    async with sink(image, found.size(), DOING) as target:
        source, kind = found.path.name, found.format
        await convert(guest, source, kind, target, progress, DOING, compress=True)
    if origin is not None:
        await DISK.run(origin.link_kernel, draft.image)
    return _seal(draft, image.part("qcow2"), origin, found.size())


async def _copy_and_compress(
    draft: Draft, guest: Guest, disk_id: int, most: int, progress: Progress
) -> ImageInfo:
    """Copied as fast as can be while the guest waits for nothing, and compressed after that."""
    copy, image = Place(draft.work, disk_id), Place(draft.image, disk_id)

    async def copied(percent: int) -> None:
        await progress(percent // 2)

    async def compressed(percent: int) -> None:
        await progress(50 + percent // 2)

    async with locked(guest.directory):
        size, origin = whole(guest, disk_id).size(), guest.disk(disk_id).image()
        async with sink(copy, size, DOING) as descriptor:
            await copy_disks(guest, {disk_id: descriptor}, copied, DOING)
        if origin is not None:
            await DISK.run(origin.link_kernel, draft.image)
    source = os.open(copy.part("qcow2"), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fchown(source, user_of(guest), user_of(guest))
        check_size(os.fstat(source), most)
        async with sink(image, size, DOING) as target:
            name, files = f"/proc/self/fd/{source}", (source,)
            await convert(guest, name, "qcow2", target, compressed, DOING, files, compress=True)
    finally:
        os.close(source)
    return _seal(draft, image.part("qcow2"), origin, size)


def whole(guest: Guest, disk_id: int) -> DiskFile:
    found = guest.disk(disk_id).find()
    if found is None:
        raise EngineError(f"Disk {disk_id} does not exist")
    return found


def check_size(file: os.stat_result, most: int) -> None:
    if file.st_blocks * _BLOCK > most * MB:
        raise too_large(most)


def too_large(most: int) -> TooLargeError:
    return TooLargeError(f"{DOING}: the disk holds more than {most} MB")


def _seal(draft: Draft, part: Path, origin: GuestImage | None, size: int) -> ImageInfo:
    put_root(draft, part)
    # A link to the file of the image that the disk began as: to be replaced, not written to.
    (draft.image / INFO).unlink(missing_ok=True)
    if origin is not None:
        needed = {"id": draft.id, "virtual_size": -(-size // MB)}
        return origin.info.model_copy(update=needed)
    return firmware_image(draft.id, size)


def put_root(draft: Draft, part: Path) -> None:
    """Let what was written be the image's root disk, which nobody changes."""
    root = draft.image / ROOT
    part.rename(root)
    os.chown(root, 0, 0)
    root.chmod(0o444)


def firmware_image(image_id: str, size: int) -> ImageInfo:
    """The description of a disk of so many bytes that boots by itself."""
    return ImageInfo(
        id=image_id,
        boot="firmware",
        kernel_args="",
        setup="nocloud",
        cloud_init=True,
        virtual_size=-(-size // MB),
    )
