"""Private images: disks of guests as compressed qcow2 files in the host's store of images.

The store is that of all regions of the host, so each of them can use what one has captured.
"""

import os
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.disks.asides import Asides
from roost.engines.qemu.disks.compressing import (
    DOING,
    capture,
    check_size,
    compress,
    firmware_image,
    put_root,
    too_large,
    whole,
)
from roost.engines.qemu.disks.copies import measure, sink
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import MB, Place
from roost.engines.qemu.guests.users import as_user_of, user_of
from roost.engines.qemu.host.programs import faults, run
from roost.engines.qemu.images.store import Draft, ImageStore
from roost.resources.compute.disk_engine import DiskSpec, Progress, private_image
from roost.threads import DISK


class QemuImages:
    """An ImageEngine."""

    def __init__(self, state_dir: Path, images: ImageStore) -> None:
        self._state_dir = state_dir
        self._images = images
        self._asides = Asides(state_dir)

    async def capture(
        self, number: int, disk: DiskSpec, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        image_id = private_image(number)
        guest = Guest(self._state_dir, disk.compute_id)
        with faults(DOING):
            async with self._images.draft(image_id) as draft:
                found = self._images.find(image_id)
                if found is not None:
                    return found.info.virtual_size
                info = await capture(draft, guest, disk.id, most, progress)
                if not cloud_init:
                    info = info.model_copy(update={"cloud_init": False})
                await DISK.run(draft.publish, info)
                return info.virtual_size

    async def set_aside(self, number: int, disk: DiskSpec, most: int) -> None:
        guest = Guest(self._state_dir, disk.compute_id)
        with faults(DOING):
            if number in await self.aside():
                return
            async with locked(guest.directory):
                if disk.id in guest.disks_in_use():
                    raise EngineError(f"{DOING}: the instance runs with its disk")
                found = whole(guest, disk.id)
                if await measure(guest, found, DOING) > most * MB:
                    raise too_large(most)
                await DISK.run(self._asides.save, number, guest, disk.id, found)

    async def finish(self, number: int, *, cloud_init: bool, progress: Progress) -> int:
        image_id = private_image(number)
        with faults(DOING):
            async with self._images.draft(image_id) as draft:
                found = self._images.find(image_id)
                info = None if found is None else found.info
                if info is None:
                    aside = await DISK.run(self._asides.find, number)
                    if aside is None:
                        raise EngineError(f"{DOING}: its disk is gone")
                    info = await compress(draft, *aside, progress)
                    if not cloud_init:
                        info = info.model_copy(update={"cloud_init": False})
                    await DISK.run(draft.publish, info)
            await DISK.run(self._asides.discard, number)
            return info.virtual_size

    async def aside(self) -> list[int]:
        return await DISK.run(self._asides.numbers)

    async def keep(
        self, number: int, source: Path, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        image_id = private_image(number)
        with faults(DOING):
            async with self._images.draft(image_id) as draft:
                found = self._images.find(image_id)
                if found is not None:
                    return found.info.virtual_size
                size = await self._compress(draft, number, source, most, progress)
                info = firmware_image(image_id, size).model_copy(update={"cloud_init": cloud_init})
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
            check_size(state, most)
            size = -(-state.st_size // MB) * MB
            async with sink(image, size, DOING) as target:
                os.fchown(target, user_of(reader), user_of(reader))
                names = (f"/proc/self/fd/{each}" for each in (source, target))
                options = ("-n", "--target-is-zero", "-c", "-f", "raw", "-O", "qcow2")
                alone = (*as_user_of(reader), "--pdeathsig=KILL")
                files = (source, target)
                await run(DOING, *alone, "qemu-img", "convert", *options, *names, files=files)
        finally:
            os.close(source)
        put_root(draft, image.part("qcow2"))
        await progress(100)
        return size

    async def delete(self, number: int) -> None:
        image_id = private_image(number)
        with faults("The image could not be deleted"):
            async with self._images.draft(image_id):
                await DISK.run(self._images.remove, image_id)
            await DISK.run(self._images.forget_versions, image_id)
            await DISK.run(self._asides.discard, number)

    def _numbers(self) -> list[int]:
        names = (image.info.id.split("/") for image in self._images.list())
        return sorted(int(name) for maker, name in names if maker == "private")

    async def list(self) -> list[int]:
        return await DISK.run(self._numbers)
