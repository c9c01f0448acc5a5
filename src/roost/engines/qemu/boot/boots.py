"""What a guest starts with: its drives, and the image whose kernel and set-up it uses."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from roost.core.engine import EngineError
from roost.engines.qemu.guests.devices import FIRST_LOOSE_LUN, Drive, slot_lun, volume_drive
from roost.engines.qemu.guests.directory import RESCUE_DISK, Guest
from roost.engines.qemu.images.store import GuestImage
from roost.engines.qemu.volumes.files import VolumeFile
from roost.resources.compute.engine import (
    DiskDevice,
    InstanceSpec,
    NoDisksError,
    Slot,
    VolumeDevice,
)

RESCUE_LUN = 8


@dataclass(frozen=True, slots=True)
class Boot:
    """What QEMU's command line says about disks and the kernel."""

    drives: tuple[Drive, ...]
    image: GuestImage | None
    """None when what it boots from did not begin as an image."""
    root_lun: int
    files: Mapping[int, int] = field(default_factory=dict)
    """Descriptors of its volumes, by their ids."""

    @property
    def kernel(self) -> GuestImage | None:
        """The image when its kernel boots; without one the firmware boots the root disk."""
        return self.image if self.image is not None and self.image.kernel is not None else None


@contextmanager
def arranged(
    guest: Guest,
    spec: InstanceSpec,
    rescue: GuestImage | None,
    held: Mapping[str, int],
    luns: Mapping[int, int] | None = None,
) -> Iterator[Boot]:
    """Find what a specification boots with, and open its volumes until the block ends.

    NoDisksError when a device does not exist, or none is to boot from.
    `rescue` is the system to boot instead; `held` are the open files of running guests; `luns`
    are those of volumes that have some already.
    """
    files: dict[int, int] = {}
    try:
        _open_volumes(guest, spec, held, files)
        if rescue is not None:
            drives = _drives(guest, spec, None, {})
            drives.append(Drive("rescue", "qcow2", RESCUE_DISK, RESCUE_LUN))
            boot = Boot(tuple(drives), rescue, RESCUE_LUN, files)
        else:
            boot = _own_boot(guest, spec, files, luns or {})
        _check_kernel(boot)
        yield boot
    finally:
        for descriptor in files.values():
            os.close(descriptor)


def _own_boot(
    guest: Guest, spec: InstanceSpec, files: dict[int, int], luns: Mapping[int, int]
) -> Boot:
    root = next((device for device in spec.devices if device.slot == spec.root), None)
    if root is None or spec.root is None:
        raise NoDisksError("The instance has no disks to boot from")
    image = guest.disk(root.disk_id).image() if isinstance(root, DiskDevice) else None
    firmware = image is None or image.kernel is None
    drives = _drives(guest, spec, spec.root if firmware else None, luns)
    return Boot(tuple(drives), image, slot_lun(spec.root), files)


def _open_volumes(
    guest: Guest, spec: InstanceSpec, held: Mapping[str, int], files: dict[int, int]
) -> None:
    for device in spec.devices:
        if isinstance(device, VolumeDevice):
            volume = VolumeFile(guest.state_dir, device.volume_id)
            files[device.volume_id] = volume.open(guest.id, held)


def _drives(
    guest: Guest, spec: InstanceSpec, first: Slot | None, luns: Mapping[int, int]
) -> list[Drive]:
    """The drives of a specification; the firmware boots the slot `first`."""
    drives: list[Drive] = []
    loose = FIRST_LOOSE_LUN
    for device in spec.devices:
        boots = first is not None and device.slot == first
        match device:
            case DiskDevice(slot, disk_id):
                drives.append(_disk_drive(guest, disk_id, slot_lun(slot), boots))
            case VolumeDevice(slot, volume_id, label):
                lun = loose if slot is None else slot_lun(slot)
                loose += slot is None
                drives.append(volume_drive(volume_id, label, luns.get(volume_id, lun), boots))
    return drives


def _disk_drive(guest: Guest, disk_id: int, lun: int, boots: bool) -> Drive:
    place = guest.disk(disk_id)
    found = place.find()
    if found is None:
        raise NoDisksError(f"Disk {disk_id} does not exist")
    return Drive(place.name, found.format, found.path.name, lun, boots=boots)


def _check_kernel(boot: Boot) -> None:
    if boot.kernel is not None and boot.root_lun and not boot.kernel.info.any_lun:
        raise EngineError(f"The image {boot.kernel.info.id} only boots as sda; make it anew")
