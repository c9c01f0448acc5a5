"""Unix sockets on which a guest's QEMU listens: its monitor and its serial console."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.01


@contextmanager
def listening(directory: Path, name: str) -> Iterator[int]:
    """The descriptor of a fresh socket for a QEMU that may not make one itself."""
    (directory / name).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        with _address(directory, name) as address:
            server.bind(address)
        server.listen()
        yield server.fileno()


async def reach(connection: socket.socket, directory: Path, name: str) -> None:
    """Wait for a place among those who wait for QEMU, which has two. Raises OSError."""
    with _address(directory, name) as address:
        while True:
            try:
                return connection.connect(address)
            except BlockingIOError:
                await asyncio.sleep(_POLL_SECONDS)


@contextmanager
def _address(directory: Path, name: str) -> Iterator[str]:
    """The name of a socket may have 107 bytes, and state directories may be deep."""
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)
