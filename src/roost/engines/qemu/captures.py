"""Private images: disks of guests as compressed qcow2 files in the host's store of images.

The store is that of all regions of the host, so each of them can use what one has captured.
"""

import os
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.disk_copies import convert, copy_disks, sink
from roost.engines.qemu.diskfiles import MB, Place
from roost.engines.qemu.guests import Guest
from roost.engines.qemu.images.store import INFO, ROOT, Draft, ImageInfo, ImageStore
from roost.engines.qemu.programs import faults, run
from roost.engines.qemu.users import as_user_of, user_of
from roost.resources.compute.disk_engine import DiskSpec, Progress, TooLargeError, private_image
from roost.threads import DISK

_DOING = "The image could not be made"
_BLOCK = 512
"""Bytes of the unit in which the host counts what a file takes."""


class QemuImages:
    """An ImageEngine."""

    def __init__(self, state_dir: Path, images: ImageStore) -> None:
        self._state_dir = state_dir
        self._images = images

    async def capture(
        self, number: int, disk: DiskSpec, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        image_id = private_image(number)
        guest = Guest(self._state_dir, disk.compute_id)
        with faults(_DOING):
            async with self._images.draft(image_id) as draft:
                found = self._images.find(image_id)
                if found is not None:
                    return found.info.virtual_size
                info = await _capture(draft, guest, disk.id, most, progress)
                if not cloud_init:
                    info = info.model_copy(update={"cloud_init": False})
                await DISK.run(draft.publish, info)
                return info.virtual_size

    async def keep(
        self, number: int, source: Path, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        image_id = private_image(number)
        with faults(_DOING):
            async with self._images.draft(image_id) as draft:
                found = self._images.find(image_id)
                if found is not None:
                    return found.info.virtual_size
                size = await self._compress(draft, number, source, most, progress)
                info = _firmware_image(image_id, size).model_copy(update={"cloud_init": cloud_init})
                await DISK.run(draft.publish, info)
                return info.virtual_size

    async def _compress(
        self, draft: Draft, number: int, path: Path, most: int, progress: Progress
    ) -> int:
        """The size of the raw disk in bytes. A user whom no guest has reads it."""
        reader, image = Guest(self._state_dir, 0), Place(draft.image, number)
        source = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fchown(source, user_of(reader), user_of(reader))
            state = os.fstat(source)
            if state.st_blocks * _BLOCK > most * MB:
                raise TooLargeError(f"{_DOING}: the disk holds more than {most} MB")
            size = -(-state.st_size // MB) * MB
            async with sink(image, size, _DOING) as target:
                os.fchown(target, user_of(reader), user_of(reader))
                names = (f"/proc/self/fd/{each}" for each in (source, target))
                options = ("-n", "--target-is-zero", "-c", "-f", "raw", "-O", "qcow2")
                alone = (*as_user_of(reader), "--pdeathsig=KILL")
                files = (source, target)
                await run(_DOING, *alone, "qemu-img", "convert", *options, *names, files=files)
        finally:
            os.close(source)
        _seal(image, draft)
        await progress(100)
        return size

    async def delete(self, number: int) -> None:
        image_id = private_image(number)
        with faults("The image could not be deleted"):
            async with self._images.draft(image_id):
                await DISK.run(self._images.remove, image_id)
            await DISK.run(self._images.forget_versions, image_id)

    def _numbers(self) -> list[int]:
        names = (image.info.id.split("/") for image in self._images.list())
        return sorted(int(name) for maker, name in names if maker == "private")

    async def list(self) -> list[int]:
        return await DISK.run(self._numbers)


async def _capture(
    draft: Draft, guest: Guest, disk_id: int, most: int, progress: Progress
) -> ImageInfo:
    """Copied as fast as can be while the guest waits for nothing, and compressed after that."""
    copy, image = Place(draft.work, disk_id), Place(draft.image, disk_id)

    async def copied(percent: int) -> None:
        await progress(percent // 2)

    async def compressed(percent: int) -> None:
        await progress(50 + percent // 2)

    async with locked(guest.directory):
        found = guest.disk(disk_id).find()
        if found is None:
            raise EngineError(f"Disk {disk_id} does not exist")
        size, origin = found.size(), guest.disk(disk_id).image()
        async with sink(copy, size, _DOING) as descriptor:
            await copy_disks(guest, {disk_id: descriptor}, copied, _DOING)
        if origin is not None:
            await DISK.run(origin.link_kernel, draft.image)
    source = os.open(copy.part("qcow2"), os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fchown(source, user_of(guest), user_of(guest))
        if os.fstat(source).st_blocks * _BLOCK > most * MB:
            raise TooLargeError(f"{_DOING}: the disk holds more than {most} MB")
        async with sink(image, size, _DOING) as target:
            name = f"/proc/self/fd/{source}"
            await convert(
                guest, name, "qcow2", target, compressed, _DOING, (source,), compress=True
            )
    finally:
        os.close(source)
    _seal(image, draft)
    # A link to the file of the image that the disk began as: to be replaced, not written to.
    (draft.image / INFO).unlink(missing_ok=True)
    if origin is not None:
        needed = {"id": draft.id, "virtual_size": -(-size // MB)}
        return origin.info.model_copy(update=needed)
    return _firmware_image(draft.id, size)


def _seal(image: Place, draft: Draft) -> None:
    """Let what was written be the image's root disk, which nobody changes."""
    root = draft.image / ROOT
    image.part("qcow2").rename(root)
    os.chown(root, 0, 0)
    root.chmod(0o444)


def _firmware_image(image_id: str, size: int) -> ImageInfo:
    """Of a disk of so many bytes that boots by itself."""
    return ImageInfo(
        id=image_id,
        boot="firmware",
        kernel_args="",
        setup="nocloud",
        cloud_init=True,
        virtual_size=-(-size // MB),
    )
