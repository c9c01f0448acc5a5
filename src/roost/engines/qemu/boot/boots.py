"""What a guest starts with: its drives, and the image whose kernel and set-up it uses."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from roost.core.engine import EngineError
from roost.engines.qemu.guests.devices import FIRST_LOOSE_LUN, Drive, slot_lun, volume_drive
from roost.engines.qemu.guests.directory import RESCUE_DISK, Guest
from roost.engines.qemu.images.store import GuestImage
from roost.engines.qemu.volumes.sources import Opened
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
    volumes: Mapping[int, Opened] = field(default_factory=dict)
    """By their ids."""

    @property
    def kernel(self) -> GuestImage | None:
        """The image when its kernel boots; without one the firmware boots the root disk."""
        return self.image if self.image is not None and self.image.kernel is not None else None


def volumes_of(spec: InstanceSpec) -> Collection[int]:
    """The ids of the volumes that it boots with."""
    return [each.volume_id for each in spec.devices if isinstance(each, VolumeDevice)]


def arrange(
    guest: Guest,
    spec: InstanceSpec,
    rescue: GuestImage | None,
    volumes: Mapping[int, Opened],
    luns: Mapping[int, int] | None = None,
) -> Boot:
    """Find what a specification boots with.

    NoDisksError when a device does not exist, or none is to boot from.
    `rescue` is the system to boot instead; `volumes` are open for the guest; `luns` are those of
    volumes that have some already.
    """
    if rescue is not None:
        drives = _drives(guest, spec, None, volumes, {})
        drives.append(Drive("rescue", "qcow2", RESCUE_DISK, RESCUE_LUN))
        boot = Boot(tuple(drives), rescue, RESCUE_LUN, volumes)
    else:
        boot = _own_boot(guest, spec, volumes, luns or {})
    _check_kernel(boot)
    return boot


def _own_boot(
    guest: Guest, spec: InstanceSpec, volumes: Mapping[int, Opened], luns: Mapping[int, int]
) -> Boot:
    root = next((device for device in spec.devices if device.slot == spec.root), None)
    if root is None or spec.root is None:
        raise NoDisksError("The instance has no disks to boot from")
    image = guest.disk(root.disk_id).image() if isinstance(root, DiskDevice) else None
    firmware = image is None or image.kernel is None
    drives = _drives(guest, spec, spec.root if firmware else None, volumes, luns)
    return Boot(tuple(drives), image, slot_lun(spec.root), volumes)


def _drives(
    guest: Guest,
    spec: InstanceSpec,
    first: Slot | None,
    volumes: Mapping[int, Opened],
    luns: Mapping[int, int],
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
                lun, below = luns.get(volume_id, lun), volumes[volume_id].below
                drives.append(volume_drive(volume_id, label, lun, below, boots))
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
