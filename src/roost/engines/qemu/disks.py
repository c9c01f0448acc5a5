"""Disks and set-up data of a guest. A file appears under its name only when it is whole."""

import asyncio
import shutil
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

from roost.engines.qemu.guests import FIRMWARE, IMAGE, ROOT, SEED, SWAP, Guest
from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.nocloud import nocloud_iso
from roost.engines.qemu.images.setup import SWAP_LABEL, fw_cfg_files
from roost.engines.qemu.images.store import GuestImage, ImageStore
from roost.engines.qemu.programs import failure, run
from roost.resources.compute.engine import EngineError, InstanceSpec

_MB = 1024 * 1024


def find_image(images: ImageStore, spec: InstanceSpec) -> GuestImage | None:
    """The image that the guest is made from; EngineError when this host does not have it."""
    if spec.image is None:
        return None
    try:
        image = images.find(spec.image)
    except ImageError as error:
        raise failure(f"The image {spec.image} cannot be used", str(error)) from error
    if image is None:
        raise EngineError(f"The image {spec.image} is not available in this region")
    if spec.disk < image.info.virtual_size:
        raise EngineError(
            f"The image {spec.image} needs a disk of {image.info.virtual_size} MB or more"
        )
    return image


async def make_root(guest: Guest, spec: InstanceSpec, image: GuestImage | None) -> None:
    """An empty disk, or one that starts as the image does and keeps only the differences."""
    backing: tuple[str, ...] = ()
    if image is not None:
        await asyncio.to_thread(image.link, guest.directory / IMAGE)
        backing = ("-b", f"{IMAGE}/{image.root.name}", "-F", "qcow2")
    partial = f"{ROOT}.part"
    options = ("-q", "-f", "qcow2", *backing, partial, f"{spec.disk}M")
    await run(
        "The root disk could not be made", "qemu-img", "create", *options, cwd=guest.directory
    )
    (guest.directory / partial).replace(guest.directory / ROOT)


async def grow_root(guest: Guest, size: int) -> None:
    """Make the root disk of an offline guest `size` MB large; a larger one is left alone."""
    if guest.disk_size() < size:
        resize = ("qemu-img", "resize", "-q", ROOT, f"{size}M")
        await run("The root disk could not be grown", *resize, cwd=guest.directory)


async def make_swap(guest: Guest, size: int) -> None:
    """A swap disk of `size` MB in place of one of another size; none at all for 0."""
    target = guest.directory / SWAP
    if size == 0:
        target.unlink(missing_ok=True)
        return
    if target.exists() and target.stat().st_size == size * _MB:
        return
    partial = target.with_name(f"{SWAP}.part")
    with partial.open("wb") as file:
        file.truncate(size * _MB)
    partial.chmod(0o600)
    label = ("mkswap", "--quiet", "--label", SWAP_LABEL, partial)
    await run("The swap disk could not be made", *label)
    partial.replace(target)


async def write_setup(
    guest: Guest, spec: InstanceSpec, dns: Sequence[IPv4Address | IPv6Address]
) -> None:
    """What the guest reads about itself when it boots, in the form that its image understands."""
    image = guest.image()
    if image is None:
        return
    if image.info.setup == "nocloud":
        guest.write(SEED, await asyncio.to_thread(nocloud_iso, spec, dns))
        return
    directory = guest.directory / FIRMWARE
    shutil.rmtree(directory, ignore_errors=True)
    for name, content in fw_cfg_files(spec, dns).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
