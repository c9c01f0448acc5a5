"""QEMU's monitor (QMP), connected to anew for every use."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from pydantic import BaseModel, TypeAdapter
from qemu.qmp import QMPClient, QMPError

from roost.engines.qemu.guests import MONITOR

_CONNECT_SECONDS = 5.0

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)  # It logs what it raises as well.


class MonitorError(Exception):
    """QEMU does not answer, or refuses."""


class _DiskTotals(BaseModel):
    rd_bytes: int
    wr_bytes: int


class _Disk(BaseModel):
    stats: _DiskTotals


_DISKS = TypeAdapter(list[_Disk])


async def answers(directory: Path) -> None:
    """Returns when QEMU answers; MonitorError when it does not."""
    async with connected(directory):
        pass


async def press_power_button(directory: Path) -> None:
    async with connected(directory) as client:
        await client.execute("system_powerdown")


async def quit_now(directory: Path) -> None:
    """As if the plug were pulled, but QEMU writes out what it holds."""
    async with connected(directory) as client:
        await client.execute("quit")


async def disk_totals(directory: Path) -> tuple[int, int]:
    """Bytes read and written since the start, over all disks."""
    async with connected(directory) as client:
        disks = _DISKS.validate_python(await client.execute("query-blockstats"))
    return sum(disk.stats.rd_bytes for disk in disks), sum(disk.stats.wr_bytes for disk in disks)


@contextmanager
def listening(directory: Path) -> Iterator[int]:
    """The descriptor of a fresh socket for a QEMU that may not make one itself."""
    (directory / MONITOR).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        with _address(directory) as address:
            server.bind(address)
        server.listen()
        yield server.fileno()


@asynccontextmanager
async def connected(directory: Path) -> AsyncIterator[QMPClient]:
    """QEMU serves one client at a time; another one waits for its turn."""
    client = QMPClient()
    try:
        with _address(directory) as address:
            await asyncio.wait_for(client.connect(address), _CONNECT_SECONDS)
        try:
            yield client
        finally:
            await client.disconnect()
    except (OSError, EOFError, QMPError, TimeoutError) as error:
        raise MonitorError(str(error)) from error


@contextmanager
def _address(directory: Path) -> Iterator[str]:
    """The name of a socket may have 107 bytes, and state directories may be deep."""
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{MONITOR}"
    finally:
        os.close(descriptor)
