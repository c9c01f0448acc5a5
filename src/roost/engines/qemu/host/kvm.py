"""Whether KVM really runs guests here.

An openable `/dev/kvm` proves nothing: under some hypervisors it starts a guest that then hardly
moves. So a small guest counts to twenty million, which takes milliseconds where KVM works. It runs
in a process of its own (`python -m roost.engines.qemu.host.kvm`), since a signal has to end it.

The guests' users must be allowed to open it too, by its group or because everybody may.
"""

import ctypes
import fcntl
import functools
import mmap
import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Literal

from roost.threads import DISK

Accelerator = Literal["kvm", "tcg"]

_DEVICE = Path("/dev/kvm")

_LIMIT = 1.0
"""Seconds for the guest's loop."""
_PROCESS_LIMIT = 5.0
"""Seconds for the whole probe."""

_CREATE_VM, _CREATE_VCPU, _RUN, _RUN_SIZE = 0xAE01, 0xAE41, 0xAE80, 0xAE04
_SET_TSS_ADDRESS, _SET_MEMORY = 0xAE47, 0x4020AE46
_SUPPORTED_CPUID, _SET_CPUID = 0xC008AE05, 0x4008AE90
_GET_SYSTEM_REGISTERS, _SET_SYSTEM_REGISTERS, _SET_REGISTERS = 0x8138AE83, 0x4138AE84, 0x4090AE82

_MEMORY = 2 * 1024 * 1024
_GDT, _CODE = 0x1000, 0x8000
_TSS = 0x1000_0000
"""Three pages outside of the memory, which the kernel takes for itself."""
_PAGE_TABLES = ((0x2000, 0x3007), (0x3000, 0x4007), (0x4000, 0x87))
"""The first two megabytes, mapped to themselves."""
_DESCRIPTORS = (0, 0x00AF9B000000FFFF, 0x00CF93000000FFFF)
_PORT, _ANSWER = 0xF4, 42
_PROGRAM = (
    bytes.fromhex("0f20d8 0f22d8")  # mov rax, cr3; mov cr3, rax
    + b"\xb9"
    + struct.pack("<I", 20_000_000)  # mov ecx, turns
    + bytes.fromhex("ffc9 75fc")  # dec ecx; jnz
    + bytes((0xB0, _ANSWER, 0xE6, _PORT, 0xF4))  # mov al, answer; out port, al; hlt
)
_EXIT_IO = 2


async def accelerator() -> Accelerator:
    """What guests run on. The first call tries it, in a second or two; later ones remember."""
    return await DISK.run(_probe)


@functools.cache
def _probe() -> Accelerator:
    command = [sys.executable, "-m", __name__]
    try:
        probe = subprocess.run(command, capture_output=True, timeout=_PROCESS_LIMIT, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return "tcg"
    return "kvm" if probe.returncode == 0 else "tcg"


def kvm_groups() -> tuple[int, ...] | None:
    """The groups that may use KVM, none when everybody may; None when only root may."""
    try:
        device = _DEVICE.stat()
    except OSError:
        return None
    if device.st_mode & 0o006 == 0o006:
        return ()
    return (device.st_gid,) if device.st_gid and device.st_mode & 0o060 == 0o060 else None


def runs_guests() -> bool:
    """Try it in this process, from its main thread; OSError where KVM refuses a step."""
    kvm = os.open(_DEVICE, os.O_RDWR | os.O_CLOEXEC)
    machine = fcntl.ioctl(kvm, _CREATE_VM, 0)
    memory = _give_memory(machine)
    processor = fcntl.ioctl(machine, _CREATE_VCPU, 0)
    state = mmap.mmap(processor, fcntl.ioctl(kvm, _RUN_SIZE, 0))
    cpuid = bytearray(struct.pack("<II", 256, 0) + bytes(256 * 40))
    fcntl.ioctl(kvm, _SUPPORTED_CPUID, cpuid)
    fcntl.ioctl(processor, _SET_CPUID, cpuid)
    _set_registers(processor)
    answer = _answer(processor, state)
    memory.release()
    return answer == (_EXIT_IO, _PORT, _ANSWER)


def _give_memory(machine: int) -> memoryview:
    """The guest's memory with its program; it must stay referenced while the guest runs."""
    memory = mmap.mmap(-1, _MEMORY)
    for address, entry in _PAGE_TABLES:
        struct.pack_into("<Q", memory, address, entry)
    struct.pack_into("<3Q", memory, _GDT, *_DESCRIPTORS)
    memory[_CODE : _CODE + len(_PROGRAM)] = _PROGRAM
    host_address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    fcntl.ioctl(machine, _SET_TSS_ADDRESS, _TSS)
    fcntl.ioctl(machine, _SET_MEMORY, struct.pack("<IIQQQ", 0, 0, 0, _MEMORY, host_address))
    return memoryview(memory)


def _set_registers(processor: int) -> None:
    system = bytearray(312)
    fcntl.ioctl(processor, _GET_SYSTEM_REGISTERS, system)
    segment = "<QIH10B"
    code = struct.pack(segment, 0, 0xFFFFFFFF, 8, 11, 1, 0, 0, 1, 1, 1, 0, 0, 0)
    data = struct.pack(segment, 0, 0xFFFFFFFF, 16, 3, 1, 0, 1, 1, 0, 1, 0, 0, 0)
    system[: 6 * 24] = code + 5 * data
    struct.pack_into("<QH", system, 192, _GDT, 23)
    struct.pack_into("<QQQQQQ", system, 224, 0x80050033, 0, 0x2000, 0x20, 0, 0x500)
    fcntl.ioctl(processor, _SET_SYSTEM_REGISTERS, bytes(system))
    fcntl.ioctl(processor, _SET_REGISTERS, struct.pack("<18Q", *16 * (0,), _CODE, 2))


def _answer(processor: int, state: mmap.mmap) -> tuple[int, int, int]:
    """The reason for which the guest stopped, the port that it wrote to and the byte."""

    def stop() -> None:
        state[1] = 1  # immediate_exit, for a signal that comes between two runs
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, lambda _number, _frame: None)
    timer = threading.Timer(_LIMIT, stop)
    timer.start()
    try:
        fcntl.ioctl(processor, _RUN, 0)
    finally:
        timer.cancel()
    (reason,) = struct.unpack_from("<I", state, 8)
    port, _count, offset = struct.unpack_from("<HIQ", state, 34)
    return reason, port, state[offset] if reason == _EXIT_IO else 0


if __name__ == "__main__":
    try:
        passed = kvm_groups() is not None and runs_guests()
    except OSError:
        passed = False
    sys.exit(0 if passed else 1)
