"""Who waits for S3 clients at the port of a region whose server does not run, and starts it for
those who have a key (docs/decisions/0112-waiting-at-ports.md)."""

import asyncio
import re
import socket
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import structlog

from roost.core.engine import EngineError
from roost.engines.gateway import handover
from roost.engines.gateway.faults import S3Error, denied, no_bucket
from roost.engines.gateway.handover import readable
from roost.engines.listeners import LOOPBACK
from roost.engines.locks import locked
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import Door

_log = structlog.get_logger(__name__)

_MOST = 256
"""Connections that wait at once."""
_MOST_HEAD = 32 * 1024
"""Bytes"""
_BACKLOG = 1024
_SILENT_SECONDS = 75.0
_HEAD_SECONDS = 10.0
_HOLD_SECONDS = 55.0
"""Clients that wait for an answer lose patience after 60 s. A start that fails is told at once, and
one that goes on may take most of it on a machine that has other work."""
_REST_SECONDS = 5.0
"""After a start that failed."""
_CLOSE_SECONDS = 1.0
_LOOK_SECONDS = 1.0
_POLL_SECONDS = 0.02
_LONG_SECONDS = 3600.0
_TRIES = 5
_PIECE = 64 * 1024

_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]\r\n")
_KEY = re.compile(
    rb"(?:Credential=|AWSAccessKeyId=|\r\n[Aa]uthorization: *AWS )([A-Za-z0-9]{3,128})(?=[/:%& ])"
)


class Standby:
    """The ports of one region. Its methods run on one event loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._held: dict[socket.socket, asyncio.Task[None]] = {}
        """Connections of which nothing has been taken yet."""
        self._silent: dict[socket.socket, None] = {}
        """Those that have said nothing yet, the oldest first."""
        self._refused = set[asyncio.Task[None]]()
        self._starting: asyncio.Task[bool] | None = None
        self._rests_until = 0.0
        self.serves = asyncio.Event()
        """Set while the server has the port."""

    async def attend(self, door: Door) -> None:
        """Wait wherever the server does not run, until this is cancelled."""
        try:
            while True:
                await self._attend(door)
        finally:
            if self._starting is not None:
                self._starting.cancel()

    async def _attend(self, door: Door) -> None:
        port = urlsplit(await self._server.reserve()).port
        if (gateway := self._server.serving()) is not None:
            self.serves.set()
            await gateway.gone(_LONG_SECONDS)
            return
        self.serves.clear()
        with ExitStack() as stack:
            # A server that is being started draws another port where somebody else listens.
            async with locked(self._server.folder):
                listening = _listening(port)
                if listening is not None:
                    stack.enter_context(listening)
                    asked = stack.enter_context(handover.waiting(self._server.folder))
            if listening is not None:
                await self._wait(door, listening, asked)
            else:
                await asyncio.sleep(_LOOK_SECONDS)

    async def _wait(self, door: Door, listening: socket.socket, asked: socket.socket) -> None:
        """Until a gateway has the port."""
        accepting = asyncio.create_task(self._accept(door, listening))
        try:
            with await handover.next_asker(asked) as channel:
                try:
                    await self._bring_keys(door)
                finally:
                    await _cancelled(accepting, *self._held.values())
                    with suppress(OSError):
                        handover.give(channel, listening, self._held)
        finally:
            await _cancelled(accepting, *self._held.values(), *self._refused)
            for each in self._held:
                each.close()
            self._held.clear()
            self._silent.clear()

    async def _bring_keys(self, door: Door) -> None:
        """Those who come first are to find theirs. Where the server ran before it has most of them,
        and what is missing is brought by the watch."""
        for _ in range(_TRIES):
            try:
                await door.bring_keys()
            except EngineError as error:
                _log.warning("object_keys_not_brought", reason=str(error))
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                return

    async def _accept(self, door: Door, listening: socket.socket) -> None:
        while True:
            await readable(listening)
            try:
                connection, _ = listening.accept()
            except OSError:
                await asyncio.sleep(_POLL_SECONDS)
                continue
            connection.setblocking(False)
            if len(self._held) + len(self._refused) >= _MOST and not self._drop_silent():
                with connection, suppress(OSError):
                    connection.send(_answer(_busy(), b"GET", b"/"))
                continue
            self._silent[connection] = None
            self._held[connection] = asyncio.create_task(self._hold(door, connection))

    def _drop_silent(self) -> bool:
        """Whether the oldest connection on which nothing is said makes room for another one."""
        oldest = next(iter(self._silent), None)
        if oldest is None:
            return False
        self._held[oldest].cancel()
        self._drop(oldest)
        return True

    def _drop(self, connection: socket.socket) -> None:
        self._silent.pop(connection, None)
        self._held.pop(connection, None)
        connection.close()

    async def _hold(self, door: Door, connection: socket.socket) -> None:
        """Until the gateway has it, or it is refused."""
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                await readable(connection)
            self._silent.pop(connection, None)
            head = await _head(connection)
        except OSError:  # TimeoutError is one.
            head = None
        match = None if head is None else _REQUEST.match(head)
        if head is None or match is None:
            self._drop(connection)
            return
        refusal = await self._refusal(door, head, match[2])
        self._held.pop(connection)
        task = asyncio.create_task(_refuse(connection, _answer(refusal, match[1], match[2])))
        self._refused.add(task)
        task.add_done_callback(self._refused.discard)

    async def _refusal(self, door: Door, head: bytes, target: bytes) -> S3Error:
        """The refusal of a request that the server is not started for, or not in time."""
        try:
            async with asyncio.timeout(_HOLD_SECONDS):
                if not self._server.exists:
                    await _check_known(door, head, target)
                if await self._starts():
                    await asyncio.Event().wait()
        except TimeoutError:
            pass
        except S3Error as error:
            return error
        return _busy()

    async def _starts(self) -> bool:
        """Whether the server runs now; one start for all, and none just after one that failed."""
        if self._starting is None:
            if time.monotonic() < self._rests_until:
                return False
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> bool:
        try:
            await self._server.ensure()
        except EngineError as error:
            _log.warning("object_storage_not_started", reason=str(error))
            self._rests_until = time.monotonic() + _REST_SECONDS
            return False
        finally:
            self._starting = None
        return True


def _listening(port: int | None) -> socket.socket | None:
    """None where somebody else does, such as another worker."""
    try:
        found = socket.create_server((LOOPBACK, port or 0), backlog=_BACKLOG)
    except OSError:
        return None
    found.setblocking(False)
    return found


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _check_known(door: Door, head: bytes, target: bytes) -> None:
    """Where nothing was ever stored, only who has a key starts a server. Raises S3Error."""
    match = _KEY.search(head)
    if match is None:
        raise denied() if target.partition(b"?")[0] == b"/" else no_bucket()
    if not await _is_known(door, match[1].decode()):
        message = "The AWS Access Key Id you provided does not exist in our records."
        raise S3Error(403, "InvalidAccessKeyId", message)


async def _is_known(door: Door, access_key: str) -> bool:
    """Also where the database, which is as busy, answers a little later. Raises S3Error."""
    for left in reversed(range(_TRIES)):
        try:
            return await door.knows(access_key)
        except EngineError as error:
            _log.warning("object_key_not_looked_up", reason=str(error))
            if left:
                await asyncio.sleep(_LOOK_SECONDS)
    raise _busy()


async def _head(connection: socket.socket) -> bytes | None:
    """The head of the first request, which stays unread; None of one that has ended.

    Raises TimeoutError.
    """
    async with asyncio.timeout(_HEAD_SECONDS):
        while True:
            head = connection.recv(_MOST_HEAD, socket.MSG_PEEK)
            if b"\r\n\r\n" in head:
                return head
            if not head or len(head) == _MOST_HEAD:
                return None
            await asyncio.sleep(_POLL_SECONDS)


async def _refuse(connection: socket.socket, answer: bytes) -> None:
    """What is not read before the end would cut the answer off."""
    with connection, suppress(OSError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            connection.recv(_PIECE)
            connection.send(answer)
            connection.shutdown(socket.SHUT_WR)
            while True:
                await readable(connection)
                if not connection.recv(_PIECE):
                    return


def _busy() -> S3Error:
    return S3Error(503, "SlowDown", "The region's object storage is being started. Try again.")


def _answer(error: S3Error, method: bytes, target: bytes) -> bytes:
    body = error.body(target.partition(b"?")[0].decode(errors="replace"), "0" * 16)
    shown = b"" if method == b"HEAD" else body
    lines = [f"HTTP/1.1 {error.status} {error.code}", "Content-Type: application/xml"]
    lines += [f"Content-Length: {len(shown)}", "Connection: close", "Server: Roost"]
    if error.status == 503:
        lines.append("Retry-After: 5")
    return "\r\n".join((*lines, "", "")).encode() + shown
