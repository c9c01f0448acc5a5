"""What a simulated guest seems to do."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from roost.core.engine import EngineError
from roost.engines.simulated.shelves import DISKS, GUESTS, VOLUMES, Disk, Guest
from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import DiskState
from roost.resources.compute.engine import (
    Counters,
    DiskDevice,
    InstanceSpec,
    InstanceState,
    NoDisksError,
    VolumeDevice,
)
from roost.resources.compute.network_engine import Traffic

_BOOT_CPU_SECONDS = 2.5
_BOOT_BYTES = 192_000_000
_CONSOLE_LIMIT = 64 * 1024

_BOOT_TEXT = """\
[    0.000000] Linux version 6.1.0-simulated (roost) #1 SMP
[    0.004000] Memory: {memory}MB available, {vcpus} CPUs
[    0.812345] scsi host0: Virtio SCSI HBA: {devices}
[    1.500000] systemd[1]: Hostname set to <{hostname}>.

{hostname} login: """
_OFF_TEXT = "\n[  OK  ] Reached target poweroff.target\nreboot: Power down\n"


def check_devices(documents: Documents, spec: InstanceSpec) -> None:
    """NoDisksError when a device does not exist; EngineError when another guest has it."""
    if not spec.rescue and spec.root not in [device.slot for device in spec.devices]:
        raise NoDisksError("The instance has no disks to boot from")
    for device in spec.devices:
        match device:
            case DiskDevice(disk_id=disk_id):
                disk = DISKS.find(documents, (spec.id, disk_id))
                if disk is None or not disk.whole:
                    raise NoDisksError(f"Disk {disk_id} does not exist")
            case VolumeDevice(volume_id=volume_id):
                volume = VOLUMES.find(documents, volume_id)
                if volume is None or not volume.whole:
                    raise NoDisksError(f"The data of volume {volume_id} do not exist")
                if volume.compute_id not in (None, spec.id):
                    raise EngineError(f"Volume {volume_id} is in use by another instance")


def power_on(documents: Documents, spec: InstanceSpec, now: datetime) -> None:
    """Start a guest with all its devices; a running one is left alone."""
    before = GUESTS.find(documents, spec.id)
    if before is not None and before.started is not None:
        return
    check_devices(documents, spec)
    volumes = tuple(d.volume_id for d in spec.devices if isinstance(d, VolumeDevice))
    guest = Guest(
        id=spec.id,
        vcpus=spec.vcpus,
        memory=spec.memory,
        started=now,
        console=((before.console if before else "") + _boot_text(spec))[-_CONSOLE_LIMIT:],
        disks=tuple(d.disk_id for d in spec.devices if isinstance(d, DiskDevice)),
        volumes=volumes,
        addresses=spec.addresses,
        links=spec.links,
        ipv4=tuple(str(each.interface.ip) for each in spec.ipv4),
    )
    GUESTS.put(documents, guest)
    for volume_id in volumes:
        hold_volume(documents, volume_id, spec.id)


def power_off(
    documents: Documents, compute_id: int, last_output: str = _OFF_TEXT, interrupted: bool = False
) -> bool:
    """Whether it ran: nothing happens to a guest that is off or does not exist."""
    guest = GUESTS.find(documents, compute_id)
    if guest is None or guest.started is None:
        return False
    for volume_id in guest.volumes:
        hold_volume(documents, volume_id, None)
    console = guest.console + last_output
    off = replace(
        guest, started=None, console=console, disks=(), volumes=(), interrupted=interrupted
    )
    GUESTS.put(documents, off)
    return True


def remove(documents: Documents, compute_id: int) -> bool:
    """Whether it ran."""
    ran = power_off(documents, compute_id)
    GUESTS.remove(documents, compute_id)
    for disk in DISKS.all(documents, compute_id):
        DISKS.remove(documents, (compute_id, disk.id))
    return ran


def hold_volume(documents: Documents, volume_id: int, compute_id: int | None) -> None:
    """Note which running guest has the volume, if that still exists."""
    if volume := VOLUMES.find(documents, volume_id):
        VOLUMES.put(documents, replace(volume, compute_id=compute_id, mounted=False))


def state_of(guest: Guest | None, disks: Sequence[Disk]) -> InstanceState | None:
    """The state of what exists of an instance; None when that is nothing."""
    if guest is None and not disks:
        return None
    known = guest or Guest(disks[0].compute_id, vcpus=0, memory=0)
    return InstanceState(
        id=known.id,
        power="offline" if known.started is None else "running",
        memory=known.memory,
        vcpus=known.vcpus,
        disks=tuple(map(disk_state, disks)),
        interrupted=known.interrupted,
    )


def disk_state(disk: Disk) -> DiskState:
    """How a disk is; the size of one that is only begun is 0."""
    return DiskState(disk.id, disk.compute_id, disk.size if disk.whole else 0)


def _counters_at(documents: Documents, guest: Guest, now: datetime) -> Counters | None:
    """A small web server's load since the start; steady, so that tests can foretell it."""
    if guest.started is None:
        return None
    up = max(0.0, (now - guest.started).total_seconds())
    moved = _BOOT_BYTES + int(up * 13_000)
    swaps = {disk.id for disk in DISKS.all(documents, guest.id) if disk.filesystem == "swap"}
    run = guest.started.isoformat()
    return Counters(
        run=run,
        cpu_seconds=_BOOT_CPU_SECONDS + up * 0.03 * guest.vcpus,
        disks={disk_id: 0 if disk_id in swaps else moved for disk_id in guest.disks},
        traffic=Traffic(
            epoch=run,
            ipv4_in=int(up * 2_500),
            ipv4_out=int(up * 9_000),
            ipv6_in=int(up * 500),
            ipv6_out=int(up * 2_000),
        ),
    )


def counters_at(documents: Documents, now: datetime) -> dict[int, Counters]:
    """The counters of all guests that run."""
    found = ((guest.id, _counters_at(documents, guest, now)) for guest in GUESTS.all(documents))
    return {compute_id: each for compute_id, each in found if each is not None}


def _boot_text(spec: InstanceSpec) -> str:
    slots = [device.slot for device in spec.devices if device.slot is not None]
    return _BOOT_TEXT.format(
        memory=spec.memory,
        vcpus=spec.vcpus,
        devices=" ".join(slots) or "no devices",
        hostname="rescue" if spec.rescue else spec.setup.hostname,
    )
