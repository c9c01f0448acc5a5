"""What a guest reads about itself when it boots, in the form that its image understands."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.qemu.disks.making import load_image
from roost.engines.qemu.guests.directory import FIRMWARE, RESCUE_DISK, RESCUE_IMAGE, SEED, Guest
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.nocloud import nocloud_iso
from roost.engines.qemu.images.setup import RESCUE, fw_cfg_files
from roost.engines.qemu.images.store import GuestImage, ImageStore
from roost.resources.compute.engine import InstanceSpec
from roost.threads import DISK

_RESCUE_SIZE = "1024M"


async def write_setup(
    guest: Guest,
    spec: InstanceSpec,
    image: GuestImage | None,
    dns: Sequence[IPv4Address | IPv6Address],
) -> None:
    """Nothing for what did not begin as an image: it sets itself up."""
    shutil.rmtree(guest.directory / FIRMWARE, ignore_errors=True)
    (guest.directory / SEED).unlink(missing_ok=True)
    if image is None:
        return
    if image.info.setup == "nocloud":
        guest.write(SEED, await DISK.run(nocloud_iso, spec, dns))
    elif spec.rescue:
        rescued = replace(spec, setup=replace(spec.setup, user_data=None, script=None))
        _write_items(guest.directory / FIRMWARE, {**fw_cfg_files(rescued, dns), RESCUE: b"1\n"})
    else:
        _write_items(guest.directory / FIRMWARE, fw_cfg_files(spec, dns))


async def make_rescue(guest: Guest, images: ImageStore) -> GuestImage:
    """A rescue system as new: `roost/mini` on a disk of its own."""
    remove_rescue(guest)
    found = load_image(images, MINI.id)
    if found is None or not found.info.any_lun:
        raise EngineError(f"This region has no rescue system; it is part of the image {MINI.id}")
    image = await DISK.run(found.link, guest.directory / RESCUE_IMAGE)
    base = ("-b", f"{RESCUE_IMAGE}/{image.root.name}", "-F", "qcow2")
    create = ("qemu-img", "create", "-q", "-f", "qcow2", *base, RESCUE_DISK, _RESCUE_SIZE)
    await run("The rescue system could not be made", *create, cwd=guest.directory)
    return image


def remove_rescue(guest: Guest) -> None:
    shutil.rmtree(guest.directory / RESCUE_IMAGE, ignore_errors=True)
    (guest.directory / RESCUE_DISK).unlink(missing_ok=True)


def _write_items(directory: Path, items: dict[str, bytes]) -> None:
    for name, content in items.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
