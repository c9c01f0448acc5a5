"""What a running guest has used, and what it said."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from roost.engines.qemu.guests.directory import CONSOLE, Guest
from roost.engines.qemu.guests.monitor import MonitorError, disk_totals
from roost.resources.compute.engine import Counters
from roost.resources.compute.network_engine import Traffic

_AT_ONCE = 16
"""Guests that are asked at the same time."""
_CONSOLE_BYTES = 4 * 1024 * 1024
_KEPT_BYTES = 256 * 1024


async def _read_counters(guest: Guest, traffic: Mapping[int, Traffic]) -> Counters | None:
    """None when the guest is off, goes off meanwhile, or does not answer."""
    process = guest.process()
    if process is None:
        return None
    try:
        disks = await disk_totals(guest.directory)
        cpu_seconds, run = process.cpu_seconds(), f"{process.pid}.{process.started()}"
    except (MonitorError, OSError):
        return None
    return Counters(run, cpu_seconds, disks, traffic.get(guest.id, Traffic()))


async def read_counters(
    guests: Iterable[Guest], traffic: Mapping[int, Traffic]
) -> dict[int, Counters]:
    """A guest that hangs holds up few others."""
    found, free = dict[int, Counters](), asyncio.Semaphore(_AT_ONCE)

    async def read(guest: Guest) -> None:
        async with free:
            counters = await _read_counters(guest, traffic)
        if counters is not None:
            found[guest.id] = counters

    await asyncio.gather(*map(read, guests))
    return found


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
