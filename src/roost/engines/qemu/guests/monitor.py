"""QEMU's monitor (QMP), connected to anew for every use."""

import asyncio
import logging
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter
from qemu.qmp import ConnectError, QMPClient, QMPError

from roost.engines.qemu.guests.devices import Options, disk_of
from roost.engines.qemu.guests.directory import MONITOR
from roost.engines.qemu.guests.sockets import reach

_CONNECT_SECONDS = 5.0
_POLL_SECONDS = 0.01
_ANSWER_SECONDS = 45.0
"""QEMU writes a file out before it lets go of it, which may take a while."""
_SILENCE = "QEMU does not answer"

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)  # It logs what it raises as well.


class MonitorError(Exception):
    """QEMU does not answer, or refuses."""


class _DiskTotals(BaseModel):
    rd_bytes: int
    wr_bytes: int


class _Disk(BaseModel):
    node: str = Field("", alias="node-name")
    stats: _DiskTotals


class _AddedFile(BaseModel):
    """The answer to `add-fd`."""

    fdset_id: int = Field(alias="fdset-id")


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


async def disk_totals(directory: Path) -> dict[int, int]:
    """Bytes read and written since the start, by disk; volumes are not among them."""
    async with connected(directory) as client:
        found = _DISKS.validate_python(await client.execute("query-blockstats"))
    totals = ((disk_of(disk.node), disk.stats.rd_bytes + disk.stats.wr_bytes) for disk in found)
    return {disk_id: total for disk_id, total in totals if disk_id is not None}


class Monitor:
    """A connection to the QEMU of one guest; MonitorError when that refuses or is gone."""

    def __init__(self, client: QMPClient, connection: socket.socket) -> None:
        self._client = client
        self._connection = connection

    async def execute(self, command: str, arguments: Options | None = None) -> object:
        """What QEMU answers."""
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await self._client.execute(command, arguments)

    async def pass_file(self, descriptor: int, set_id: int | None = None) -> str:
        """The name under which QEMU opens the file from now on, `/dev/fdset/ID`.

        QEMU lets go of it by `remove-fd`, or else once it has been used and used no more. Without
        a `set_id` QEMU chooses one.
        """
        self._send(descriptor)
        chosen = {} if set_id is None else {"fdset-id": set_id}
        added = _AddedFile.model_validate(await self.execute("add-fd", chosen))
        return f"/dev/fdset/{added.fdset_id}"

    async def pass_socket(self, descriptor: int, name: str) -> None:
        """Until the next command that takes a socket of this name."""
        self._send(descriptor)
        await self.execute("getfd", {"fdname": name})

    def _send(self, descriptor: int) -> None:
        """It goes ahead of the next command."""
        ancillary = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", descriptor))
        self._connection.sendmsg([b" "], [ancillary])


@asynccontextmanager
async def connected(directory: Path) -> AsyncIterator[Monitor]:
    """QEMU serves one client at a time; another one waits for its turn."""
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            client, connection = await _connect(directory)
        with connection:
            try:
                yield Monitor(client, connection)
            finally:
                await client.disconnect()
    except (OSError, EOFError, QMPError, TimeoutError) as error:
        raise MonitorError(str(error) or _SILENCE) from error


async def _connect(directory: Path) -> tuple[QMPClient, socket.socket]:
    """What QEMU still had to say to a client that has gone, it may say instead of its greeting."""
    while True:
        client, connection = QMPClient(), socket.socket(socket.AF_UNIX)
        try:
            connection.setblocking(False)
            await reach(connection, directory, MONITOR)
            await client.connect(connection)
            return client, connection
        except BaseException as error:
            connection.close()
            if not isinstance(error, ConnectError):
                raise
        await asyncio.sleep(_POLL_SECONDS)
