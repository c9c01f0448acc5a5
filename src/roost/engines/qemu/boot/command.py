"""The command line of a guest's QEMU. Paths are relative to the guest's directory."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from roost.engines.qemu.boot.boots import Boot
from roost.engines.qemu.guests.devices import SCSI_BUS, SEED_LUN
from roost.engines.qemu.guests.directory import CONSOLE, FIRMWARE, SEED, Guest
from roost.engines.qemu.volumes.sources import secret_name
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import PublicLink

PROGRAM = "qemu-system-x86_64"
Accelerator = Literal["kvm", "tcg"]

_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_CODE_BUFFER_MB = 128
"""What the translator keeps of code; by default it takes a gigabyte."""

_SERVED = "server=on,wait=off"
_LOGGED = f"logfile={CONSOLE},logappend=on"


@dataclass(frozen=True, slots=True)
class Machine:
    """What QEMU makes for a guest, besides its devices."""

    accelerator: Accelerator
    processors: int
    type: str = "q35"
    """The newest of its kind; one that goes on with a guest has to be as old as that guest's."""

    @classmethod
    def of(cls, spec: InstanceSpec, accelerator: Accelerator) -> "Machine":
        """The machine of a specification.

        Without KVM it has no more processors than the host, as these would only cost time.
        """
        if accelerator == "kvm":
            return cls("kvm", spec.vcpus)
        return cls("tcg", min(spec.vcpus, os.cpu_count() or 1))


def command(
    guest: Guest,
    spec: InstanceSpec,
    machine: Machine,
    boot: Boot,
    taps: Sequence[int],
    monitor: int,
    terminal: int,
    secrets: Mapping[int, int],
    *,
    waits: bool = False,
) -> list[str]:
    """The program and its arguments.

    The descriptors: `taps` of the network devices, `secrets` of volumes by their ids, the others of
    sockets that listen.

    One that `waits` is filled by another machine's QEMU, and then goes on only when it is told to.
    """
    return [
        PROGRAM,
        *("-name", guest.marker),
        *_processor(machine),
        *("-m", str(spec.memory)),
        *("-display", "none", "-no-user-config", "-nodefaults"),
        *("-sandbox", _SANDBOX),
        *("-chardev", f"socket,id=monitor,fd={monitor},{_SERVED}"),
        *("-mon", "chardev=monitor,mode=control"),
        *("-chardev", f"socket,id=console,fd={terminal},{_SERVED},{_LOGGED}"),
        *("-serial", "chardev:console"),
        *("-device", "virtio-rng-pci"),
        *_cards(spec, taps),
        *("-device", "virtio-scsi-pci,id=scsi0"),
        *_disks(boot, secrets),
        *_seed(guest),
        *_kernel(guest, boot),
        *_firmware(guest),
        *(("-S", "-incoming", "defer") if waits else ()),
    ]


def _processor(machine: Machine) -> list[str]:
    """Arguments of the machine and its processors.

    Without KVM, newer processors only cost time.
    Nehalem is x86-64-v2: what distributions ask for, and a quarter quicker to boot than `max`.
    """
    kind = ["-machine", machine.type]
    processors = ["-smp", str(machine.processors)]
    if machine.accelerator == "kvm":
        return ["-accel", "kvm", *kind, "-cpu", "host", *processors]
    translator = f"tcg,thread=multi,tb-size={_CODE_BUFFER_MB}"
    return ["-accel", translator, *kind, "-cpu", "Nehalem", *processors]


def _cards(spec: InstanceSpec, taps: Sequence[int]) -> list[str]:
    """Arguments of the network devices, which the guest counts in this order."""
    arguments: list[str] = []
    for number, (link, tap) in enumerate(zip(spec.links, taps, strict=True)):
        mac = spec.mac if isinstance(link, PublicLink) else link.mac
        arguments += ["-netdev", f"tap,id=net{number},fd={tap}"]
        arguments += ["-device", f"virtio-net-pci,netdev=net{number},mac={mac},romfile="]
    return arguments


def _disks(boot: Boot, secrets: Mapping[int, int]) -> list[str]:
    arguments: list[str] = []
    for volume in boot.volumes.values():
        if volume.descriptor is not None:
            arguments += ["-add-fd", f"fd={volume.descriptor},set={volume.id}"]
    for volume_id, descriptor in secrets.items():
        file = f"id={secret_name(volume_id)},file=/proc/self/fd/{descriptor}"
        arguments += ["-object", f"secret,format=base64,{file}"]
    for drive in boot.drives:
        arguments += drive.arguments()
    return arguments


def _seed(guest: Guest) -> list[str]:
    """The set-up CD."""
    if not (guest.directory / SEED).exists():
        return []
    drive = f"if=none,id=seed,file={SEED},format=raw,readonly=on"
    device = f"scsi-cd,drive=seed,bus={SCSI_BUS},scsi-id=0,lun={SEED_LUN}"
    return ["-drive", drive, "-device", device]


def _kernel(guest: Guest, boot: Boot) -> list[str]:
    image = boot.kernel
    if image is None or image.kernel is None or image.initrd is None:
        return []
    files = (path.relative_to(guest.directory) for path in (image.kernel, image.initrd))
    kernel, initrd = map(str, files)
    root = f" roost.lun={boot.root_lun}" if boot.root_lun else ""
    return ["-kernel", kernel, "-initrd", initrd, "-append", image.info.kernel_args + root]


def _firmware(guest: Guest) -> list[str]:
    directory = guest.directory / FIRMWARE
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    arguments: list[str] = []
    for path in files:
        name = path.relative_to(directory)
        arguments += ["-fw_cfg", f"name={name},file={FIRMWARE}/{name}"]
    return arguments
