"""Handshakes of TLS: a connection is counted, and has its time, before one costs a processor."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Protocol

import structlog

from roost.web.connections import Connections
from roost.web.protocol import BoundedProtocol

HANDSHAKE_SECONDS = 10.0
_GOODBYE_SECONDS = 1.0
"""That a client has to end its side."""
_PAUSE_SECONDS = 1.0

_log = structlog.get_logger(__name__)


class Certificate(Protocol):
    """What a server shows."""

    def context(self) -> ssl.SSLContext:
        """The TLS context of the next connection."""


class Caller:
    """A connection, for who counts them."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def drop(self) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)


async def accepted(listening: socket.socket) -> AsyncIterator[tuple[socket.socket, str]]:
    """Each new connection, with the address that it is from."""
    listening.setblocking(False)
    loop = asyncio.get_running_loop()
    while True:
        try:
            connection, address = await loop.sock_accept(listening)
        except OSError as error:
            _log.warning("connection_not_accepted", reason=str(error))
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            yield connection, address[0]


class Handshakes:
    """Gives connections to protocols as soon as they speak TLS. It runs on one event loop."""

    def __init__(self, connections: Connections, certificate: Certificate) -> None:
        self._connections = connections
        self._certificate = certificate
        self._open: set[asyncio.Task[None]] = set()

    async def accept(
        self, listening: socket.socket, protocol: Callable[[], BoundedProtocol]
    ) -> None:
        """Until it is cancelled; handshakes that are under way end with it."""
        try:
            async for connection, address in accepted(listening):
                task = asyncio.create_task(self._answer(connection, address, protocol()))
                self._open.add(task)
                task.add_done_callback(self._open.discard)
        finally:
            for task in self._open:
                task.cancel()

    async def _answer(
        self, connection: socket.socket, address: str, protocol: BoundedProtocol
    ) -> None:
        caller = Caller(connection)
        if not self._connections.enter(caller, address):
            connection.close()
            return
        protocol.counted_as = caller
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=self._certificate.context(),
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=_GOODBYE_SECONDS,
            )
        except OSError:  # SSLError is one, and TimeoutError.
            connection.close()
        finally:
            self._connections.leave(caller)
