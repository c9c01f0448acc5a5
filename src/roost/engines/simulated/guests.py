"""A simulated guest: what is remembered of it and what it seems to do."""

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import TypeAdapter

from roost.resources.compute.engine import Counters, InstanceSpec, InstanceState

_BOOT_CPU_SECONDS = 2.5
_BOOT_READ_BYTES = 180_000_000
_BOOT_WRITTEN_BYTES = 12_000_000
_CONSOLE_LIMIT = 64 * 1024

_BOOT_TEXT = """\
[    0.000000] Linux version 6.1.0-simulated (roost) #1 SMP
[    0.004000] Memory: {memory}MB available, {vcpus} CPUs
[    0.812345] sd 0:0:0:0: [sda] {disk}MB root disk
[    1.500000] systemd[1]: Hostname set to <{hostname}>.

{hostname} login: """
_OFF_TEXT = "\n[  OK  ] Reached target poweroff.target\nreboot: Power down\n"


@dataclass(frozen=True, slots=True)
class Guest:
    """`ready` is false until its creation is over; `started` is None while it is offline."""

    id: int
    vcpus: int
    memory: int
    disk: int
    ready: bool = False
    started: datetime | None = None
    console: str = ""


_ADAPTER = TypeAdapter(Guest)


def new_guest(spec: InstanceSpec) -> Guest:
    return Guest(spec.id, spec.vcpus, spec.memory, spec.disk)


def ready(guest: Guest) -> Guest:
    return replace(guest, ready=True)


def dump_guest(guest: Guest) -> str:
    return _ADAPTER.dump_json(guest).decode()


def load_guest(body: str) -> Guest:
    return _ADAPTER.validate_json(body)


def powered_on(guest: Guest, spec: InstanceSpec, now: datetime) -> Guest:
    """The guest as started from its specification; a disk only grows."""
    disk = max(guest.disk, spec.disk)
    text = _BOOT_TEXT.format(
        memory=spec.memory, vcpus=spec.vcpus, disk=disk, hostname=spec.setup.hostname
    )
    return replace(
        guest,
        vcpus=spec.vcpus,
        memory=spec.memory,
        disk=disk,
        started=now,
        console=(guest.console + text)[-_CONSOLE_LIMIT:],
    )


def powered_off(guest: Guest) -> Guest:
    return replace(guest, started=None, console=guest.console + _OFF_TEXT)


def crashed(guest: Guest) -> Guest:
    return replace(guest, started=None)


def state_of(guest: Guest) -> InstanceState:
    return InstanceState(
        id=guest.id,
        power="offline" if guest.started is None else "running",
        memory=guest.memory,
        vcpus=guest.vcpus,
        disk=guest.disk,
    )


def counters_at(guest: Guest, now: datetime) -> Counters | None:
    """A small web server's load since the start; steady, so that tests can foretell it."""
    if guest.started is None:
        return None
    up = max(0.0, (now - guest.started).total_seconds())
    return Counters(
        cpu_seconds=_BOOT_CPU_SECONDS + up * 0.03 * guest.vcpus,
        disk_read_bytes=_BOOT_READ_BYTES + int(up * 4_000),
        disk_written_bytes=_BOOT_WRITTEN_BYTES + int(up * 9_000),
        network_in_bytes=int(up * 3_000),
        network_out_bytes=int(up * 11_000),
    )
