"""Disks of guests as files of this host."""

from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import all_locked, locked
from roost.engines.qemu.disks.copies import begin_copy, copy_disks, end_copy
from roost.engines.qemu.disks.making import find_image, make_empty, make_from_image
from roost.engines.qemu.disks.resizing import resize_disk
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import DiskFile, disk_ids
from roost.engines.qemu.guests.users import open_directory
from roost.engines.qemu.host.programs import faults, patiently
from roost.engines.qemu.images.store import ImageStore
from roost.resources.compute.disk_engine import DiskSpec, DiskState, Progress
from roost.threads import DISK


class QemuDisks:
    """A DiskEngine. It holds no state: all that is known of a disk is in its guest's directory."""

    def __init__(self, state_dir: Path, images: ImageStore) -> None:
        self._state_dir = state_dir
        self._images = images

    async def make(self, disk: DiskSpec) -> None:
        guest = self._guest(disk.compute_id)
        if guest.disk(disk.id).find() is not None:
            return
        image = find_image(self._images, disk)
        with faults("The disk could not be made"):
            open_directory(guest)
            async with locked(guest.directory):
                if guest.disk(disk.id).find() is not None:
                    return
                with guest.disk(disk.id).begun():
                    if image is None:
                        await make_empty(guest, disk)
                    else:
                        await patiently(lambda: make_from_image(guest, disk, image))

    async def resize(self, disk: DiskSpec) -> None:
        doing = "The disk could not be resized"
        guest = self._guest(disk.compute_id)
        with faults(doing):
            async with locked(guest.directory):
                found = _whole(guest, disk.id)
                if guest.disk_state(disk.id).size == disk.size:
                    return
                _refuse_running(guest, disk.id, doing)
                with guest.disk(disk.id).begun():
                    await patiently(lambda: resize_disk(guest, disk, found))

    async def copy(self, source: DiskSpec, target: DiskSpec, progress: Progress) -> None:
        doing = "The disk could not be copied"
        origin, guest = self._guest(source.compute_id), self._guest(target.compute_id)
        if guest.disk(target.id).find() is not None:
            return
        with faults(doing):
            open_directory(guest)
            async with all_locked((origin.directory, guest.directory)):
                if guest.disk(target.id).find() is not None:
                    return
                found = _whole(origin, source.id)
                with guest.disk(target.id).begun():
                    async with begin_copy(guest, target, found.size(), doing) as sink:
                        await copy_disks(origin, {source.id: sink}, progress, doing)
                    image = origin.disk(source.id).image()
                    await end_copy(guest, target, found.size(), image, doing)

    async def delete(self, compute_id: int, disk_id: int) -> None:
        guest = self._guest(compute_id)
        if not guest.exists():
            return
        with faults("The disk could not be deleted"):
            async with locked(guest.directory):
                _refuse_running(guest, disk_id, "The disk could not be deleted")
                await DISK.run(guest.disk(disk_id).remove)

    async def inspect(self, compute_id: int, disk_id: int) -> DiskState | None:
        guest = self._guest(compute_id)
        return guest.disk_state(disk_id) if disk_id in disk_ids(guest.directory) else None

    def _guest(self, compute_id: int) -> Guest:
        return Guest(self._state_dir, compute_id)


def _whole(guest: Guest, disk_id: int) -> DiskFile:
    found = guest.disk(disk_id).find()
    if found is None:
        raise EngineError(f"Disk {disk_id} does not exist")
    return found


def _refuse_running(guest: Guest, disk_id: int, doing: str) -> None:
    if disk_id in guest.disks_in_use():
        raise EngineError(f"{doing}: the instance runs with it")
