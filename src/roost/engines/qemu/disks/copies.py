"""Copies of disks as qcow2 files that rest on nothing else."""

import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from pydantic import BaseModel

from roost.core.engine import EngineError
from roost.engines.qemu.disks.live_copies import Sink, copy_live, held
from roost.engines.qemu.disks.resizing import resize_copy
from roost.engines.qemu.guests.devices import Format, disk_name
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import MB, DiskFile, Place
from roost.engines.qemu.guests.users import give, run_for, user_of
from roost.engines.qemu.host.programs import patiently, run
from roost.engines.qemu.images.store import GuestImage
from roost.resources.compute.disk_engine import DiskSpec, Progress
from roost.threads import DISK

_PERCENT = re.compile(r"\((\d+)\.\d+/100%\)")


class _Measured(BaseModel):
    """The part of `qemu-img measure` that matters; the name is QEMU's."""

    required: int


@asynccontextmanager
async def sink(place: Place, size: int, doing: str) -> AsyncIterator[int]:
    """The descriptor of a new, empty qcow2 of `size` bytes: the part of a disk to be.

    The part stays if the block succeeds.
    """
    path = place.part("qcow2")
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        # By its descriptor: a program of an interrupted attempt, if one is left, has another file.
        create = (
            "qemu-img",
            "create",
            "-q",
            "-f",
            "qcow2",
            f"/proc/self/fd/{descriptor}",
            str(size),
        )
        await patiently(lambda: run(doing, *create, files=(descriptor,)))
        yield descriptor
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


async def measure(guest: Guest, disk: DiskFile, doing: str) -> int:
    """Bytes that a disk holds, with the image that it rests on: all but what was never written."""
    command = ("qemu-img", "measure", "--output=json", "-f", disk.format, "-O", "raw")
    text = await run_for(guest, doing, *command, disk.path.name)
    return _Measured.model_validate_json(text).required


async def copy_disks(
    guest: Guest, sinks: Mapping[int, int], progress: Progress, doing: str
) -> None:
    """Fill the sinks, by the ids of disks of one guest, as of one moment."""
    in_use = guest.disks_in_use()
    live = {
        disk_name(disk_id): Sink(descriptor, held(guest.disk(disk_id)))
        for disk_id, descriptor in sinks.items()
        if disk_id in in_use
    }
    done, working = 0, len(live)

    async def advance(percent: int) -> None:
        await progress((done * 100 + percent * working) // len(sinks))

    if live:
        await copy_live(guest, live, advance, doing)
    done, working = len(live), 1
    for disk_id in sinks.keys() - in_use:
        found = guest.disk(disk_id).find()
        if found is None:
            raise EngineError(f"Disk {disk_id} does not exist")
        await convert(guest, found.path.name, found.format, sinks[disk_id], advance, doing)
        done += 1


async def convert(
    guest: Guest,
    source: str,
    source_format: Format,
    target: int,
    progress: Progress,
    doing: str,
    files: Sequence[int] = (),
    *,
    target_format: Format = "qcow2",
    compress: bool = False,
) -> None:
    """Fill a sink from a file that the guest's user may read."""

    async def heard(text: str) -> None:
        if found := _PERCENT.findall(text):
            await progress(int(found[-1]))

    os.fchown(target, user_of(guest), user_of(guest))
    options = ["-p", "-n", "--target-is-zero", "-f", source_format, "-O", target_format]
    if compress:
        options.append("-c")
    paths = (source, f"/proc/self/fd/{target}")
    command = ("qemu-img", "convert", *options, *paths)
    await run_for(guest, doing, *command, files=(*files, target), heard=heard)


@asynccontextmanager
async def begin_copy(guest: Guest, target: DiskSpec, size: int, doing: str) -> AsyncIterator[int]:
    """The sink for a new disk of the guest, with the content of one of `size` bytes."""
    if target.size * MB < size:
        raise EngineError(f"{doing}: the new one is too small")
    async with sink(guest.disk(target.id), size, doing) as descriptor:
        yield descriptor


async def end_copy(
    guest: Guest, target: DiskSpec, size: int, image: GuestImage | None, doing: str
) -> None:
    """Let what was copied be the disk, at the size that it is to have."""
    place = guest.disk(target.id)
    part = place.part("qcow2")
    give(guest, part)
    if image is not None:
        await DISK.run(image.link_kernel, place.image_directory)
    if target.size * MB != size and image is None and target.filesystem in ("ext3", "ext4"):
        await resize_copy(guest, target, part.name, DiskFile(part, "qcow2"))
        await DISK.run(place.put, "raw")
        part.unlink()
        return
    if target.size * MB != size:
        resize = ("qemu-img", "resize", "-q", "-f", "qcow2", part.name, f"{target.size}M")
        await run_for(guest, doing, *resize)
    await DISK.run(place.put, "qcow2")
