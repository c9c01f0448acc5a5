"""What a running guest has used, and what it said."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from roost.engines.qemu.guests import CONSOLE, Guest
from roost.engines.qemu.monitor import MonitorError, disk_totals
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.engine import Counters

_CONSOLE_BYTES = 4 * 1024 * 1024
_KEPT_BYTES = 256 * 1024


async def read_counters(guest: Guest, network: GuestNetwork) -> Counters | None:
    """None when the guest is off, or goes off meanwhile."""
    process = guest.process()
    if process is None:
        return None
    try:
        disk_read, disk_written = await disk_totals(guest.directory)
        cpu_seconds = process.cpu_seconds()
    except (MonitorError, OSError):
        return None
    network_in, network_out = await network.traffic(guest.id) or (0, 0)
    return Counters(cpu_seconds, disk_read, disk_written, network_in, network_out)


def read_console(guest: Guest, limit: int) -> bytes:
    """The last `limit` bytes."""
    try:
        return _tail(guest.directory / CONSOLE, limit)
    except FileNotFoundError:
        return b""


def trim_consoles(guests: Iterable[Guest]) -> None:
    """Keep talkative guests from filling the host's disk; QEMU appends to what is left."""
    for guest in guests:
        with suppress(FileNotFoundError):
            _trim(guest.directory / CONSOLE)


def _trim(path: Path) -> None:
    if path.stat().st_size < _CONSOLE_BYTES:
        return
    kept = _tail(path, _KEPT_BYTES)
    os.truncate(path, 0)
    with path.open("ab") as file:
        file.write(kept)


def _tail(path: Path, limit: int) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - limit))
        return file.read(limit)
