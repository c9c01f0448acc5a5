"""The command line of a guest's QEMU. Paths are relative to the guest's directory."""

import os
from typing import Literal

from roost.engines.qemu.guests import CONSOLE, FIRMWARE, ROOT, SEED, SWAP, Guest
from roost.resources.compute.engine import InstanceSpec

PROGRAM = "qemu-system-x86_64"
Accelerator = Literal["kvm", "tcg"]

_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_CODE_BUFFER_MB = 128
"""Of the translator; by default it takes a gigabyte."""


def command(
    guest: Guest, spec: InstanceSpec, accelerator: Accelerator, tap: int, monitor: int
) -> list[str]:
    """The descriptors: `tap` of the guest's network device, `monitor` of a socket that listens."""
    return [
        PROGRAM,
        *("-name", guest.marker),
        *_processor(spec, accelerator),
        *("-m", str(spec.memory)),
        *("-display", "none", "-no-user-config", "-nodefaults"),
        *("-sandbox", _SANDBOX),
        *("-chardev", f"socket,id=monitor,fd={monitor},server=on,wait=off"),
        *("-mon", "chardev=monitor,mode=control"),
        *("-chardev", f"file,id=console,path={CONSOLE},append=on", "-serial", "chardev:console"),
        *("-device", "virtio-rng-pci"),
        *("-netdev", f"tap,id=net0,fd={tap}"),
        *("-device", f"virtio-net-pci,netdev=net0,mac={spec.mac},romfile="),
        *("-device", "virtio-scsi-pci,id=scsi0"),
        *_disks(guest),
        *_boot(guest),
        *_firmware(guest),
    ]


def _processor(spec: InstanceSpec, accelerator: Accelerator) -> list[str]:
    """Without KVM, more processors than the host has, or newer ones, only cost time.

    Nehalem is x86-64-v2: what distributions ask for, and a quarter quicker to boot than `max`.
    """
    if accelerator == "kvm":
        return ["-accel", "kvm", "-machine", "q35", "-cpu", "host", "-smp", str(spec.vcpus)]
    translator = f"tcg,thread=multi,tb-size={_CODE_BUFFER_MB}"
    processors = min(spec.vcpus, os.cpu_count() or 1)
    return ["-accel", translator, "-machine", "q35", "-cpu", "Nehalem", "-smp", str(processors)]


def _disks(guest: Guest) -> list[str]:
    """Root at LUN 0, swap at 1, the set-up CD at 9."""
    options = "if=none,cache=writeback,discard=unmap"
    arguments = ["-drive", f"id=root,file={ROOT},format=qcow2,{options}"]
    arguments += ["-device", "scsi-hd,drive=root,bus=scsi0.0,scsi-id=0,lun=0,bootindex=1"]
    if (guest.directory / SWAP).exists():
        arguments += ["-drive", f"id=swap,file={SWAP},format=raw,{options}"]
        arguments += ["-device", "scsi-hd,drive=swap,bus=scsi0.0,scsi-id=0,lun=1"]
    if (guest.directory / SEED).exists():
        arguments += ["-drive", f"if=none,id=seed,file={SEED},format=raw,readonly=on"]
        arguments += ["-device", "scsi-cd,drive=seed,bus=scsi0.0,scsi-id=0,lun=9"]
    return arguments


def _boot(guest: Guest) -> list[str]:
    """The image's kernel; without one the firmware boots the root disk."""
    image = guest.image()
    if image is None or image.kernel is None or image.initrd is None:
        return []
    files = (path.relative_to(guest.directory) for path in (image.kernel, image.initrd))
    kernel, initrd = map(str, files)
    return ["-kernel", kernel, "-initrd", initrd, "-append", image.info.kernel_args]


def _firmware(guest: Guest) -> list[str]:
    directory = guest.directory / FIRMWARE
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    arguments: list[str] = []
    for path in files:
        name = path.relative_to(directory)
        arguments += ["-fw_cfg", f"name={name},file={FIRMWARE}/{name}"]
    return arguments
