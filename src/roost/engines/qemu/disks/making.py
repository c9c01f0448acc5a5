"""New disks: copies of images, and empty ones with a file system. Nothing is ever mounted."""

import os
from collections.abc import Mapping

from roost.core.engine import EngineError
from roost.engines.qemu.guests.devices import Format
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import MB, Place
from roost.engines.qemu.guests.users import give, run_for
from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.setup import SWAP_LABEL
from roost.engines.qemu.images.store import GuestImage, ImageStore
from roost.resources.compute.disk_engine import DiskSpec, Filesystem
from roost.threads import DISK

_DOING = "The disk could not be made"

_FORMATTERS: Mapping[Filesystem, tuple[str, ...]] = {
    "ext3": ("mkfs.ext3", "-q", "-F"),
    "ext4": ("mkfs.ext4", "-q", "-F"),
    "swap": ("mkswap", "--quiet", "--label", SWAP_LABEL),
}


def find_image(images: ImageStore, disk: DiskSpec) -> GuestImage | None:
    """The image that the disk is to start as; EngineError when this host does not have it."""
    if disk.image is None:
        return None
    image = load_image(images, disk.image)
    if image is None:
        raise EngineError(f"The image {disk.image} is not available in this region")
    if disk.size < image.info.virtual_size:
        raise EngineError(
            f"The image {disk.image} needs a disk of {image.info.virtual_size} MB or more"
        )
    return image


def load_image(images: ImageStore, image_id: str) -> GuestImage | None:
    """An image of this host; None when it does not have it."""
    try:
        return images.find(image_id)
    except ImageError as error:
        raise failure(f"The image {image_id} cannot be used", str(error)) from error


async def make_from_image(guest: Guest, disk: DiskSpec, image: GuestImage) -> None:
    """Make a disk that keeps only what differs from its own link of the image."""
    place = guest.disk(disk.id)
    links = await DISK.run(image.link, place.image_directory)
    base = f"{place.image_directory.name}/{links.root.name}"
    part = place.part("qcow2")
    part.unlink(missing_ok=True)
    create = ("qemu-img", "create", "-q", "-f", "qcow2", "-b", base, "-F", "qcow2")
    await run(_DOING, *create, part.name, f"{disk.size}M", cwd=guest.directory)
    give(guest, part)
    await DISK.run(place.put, "qcow2")


async def make_empty(guest: Guest, disk: DiskSpec) -> None:
    """Make a disk of zeros, with the file system if it is one that the host can make."""
    await make_empty_part(guest, disk)
    await DISK.run(guest.disk(disk.id).put, "raw")


async def make_empty_part(guest: Guest, disk: DiskSpec) -> None:
    """Make the part of an empty disk: what is to take the disk's place (`Place.put`)."""
    place = guest.disk(disk.id)
    os.close(begin_part(guest, place, "raw", disk.size * MB))
    if formatter := _FORMATTERS.get(disk.filesystem):
        await run_for(guest, _DOING, *formatter, place.part("raw").name)


def begin_part(guest: Guest, place: Place, image_format: Format, size: int = 0) -> int:
    """The descriptor of a new file of the guest's user; what an earlier attempt left goes."""
    part = place.part(image_format)
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.truncate(descriptor, size)
    give(guest, part)
    return descriptor
