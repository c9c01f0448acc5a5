"""How the port of a region's S3 comes to its gateway from whoever waits there for clients.

The listening socket itself is passed on, and then the connections of clients that have come before,
of which nothing is read yet: nobody is refused in between, and nothing of a client goes through
another process afterwards.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from roost.sockets import short_name

_NAME = "port.sock"
"""In the folder of the region, which only its owner can enter."""
_ASK = b"?"
_GIVEN = b"."
_GIVE_SECONDS = 5.0
_ASK_SECONDS = 1.0
_MOST = 16
"""Bytes of a message, and gateways that ask."""


def waiting(folder: Path) -> socket.socket:
    """Where a gateway asks for the port; for the one who has it."""
    (folder / _NAME).unlink(missing_ok=True)
    asked = _channel()
    with short_name(folder, _NAME) as name:
        asked.bind(name)
    asked.listen(_MOST)
    return asked


def is_attended(folder: Path) -> bool:
    """Whether somebody waits at the port, and is going to pass it on."""
    with _channel() as channel:
        return _connects(channel, folder)


async def next_asker(asked: socket.socket) -> socket.socket:
    """The channel to a gateway that has asked."""
    while True:
        await readable(asked)
        try:
            channel, _ = asked.accept()
        except OSError:
            continue
        channel.setblocking(False)
        try:
            async with asyncio.timeout(_ASK_SECONDS):
                await readable(channel)
            if channel.recv(_MOST) == _ASK:
                return channel
        except (OSError, TimeoutError):
            pass
        channel.close()


def give(
    channel: socket.socket, listening: socket.socket, connections: Iterable[socket.socket]
) -> None:
    """Blocks for a moment, when the gateway takes them slowly. Raises OSError when it is gone."""
    channel.settimeout(_GIVE_SECONDS)
    for each in (listening, *connections):
        socket.send_fds(channel, [_GIVEN], [each.fileno()])


async def taken(folder: Path) -> AsyncGenerator[socket.socket | None, None]:
    """First None, when somebody has been asked for the port; then the listening socket, and the
    connections. Nothing when nobody is there."""
    with _channel() as channel:
        if not _connects(channel, folder):
            return
        channel.send(_ASK)
        yield None
        while True:
            await readable(channel)
            message, descriptors, _, _ = socket.recv_fds(channel, _MOST, 1)
            if not message or not descriptors:
                return
            given = socket.socket(fileno=descriptors[0])
            given.setblocking(False)
            yield given


async def readable(of: socket.socket) -> None:
    """Returns when there is something to read or to accept, or the other side has ended."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(of, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(of)


def _channel() -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel.setblocking(False)
    return channel


def _connects(channel: socket.socket, folder: Path) -> bool:
    try:
        with short_name(folder, _NAME) as name:
            channel.connect(name)
    except OSError:
        return False
    return True
