"""Unix sockets on which a guest's QEMU listens: its monitor and its serial console."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roost.sockets import short_name

_POLL_SECONDS = 0.01


@contextmanager
def listening(directory: Path, name: str) -> Iterator[int]:
    """The descriptor of a fresh socket for a QEMU that may not make one itself."""
    (directory / name).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        with short_name(directory, name) as address:
            server.bind(address)
        server.listen()
        yield server.fileno()


async def reach(connection: socket.socket, directory: Path, name: str) -> None:
    """Wait for a place among those who wait for QEMU, which has two. Raises OSError."""
    with short_name(directory, name) as address:
        while True:
            try:
                return connection.connect(address)
            except BlockingIOError:
                await asyncio.sleep(_POLL_SECONDS)
