"""Connections of clients, on each of which one request is answered after the other."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast

import httptools
import structlog

from roost.engines.gateway.http import Inbox, Request, Response

Answer: TypeAlias = Callable[[Request], Awaitable[object]]

_MOST_HEAD = 64 << 10
"""Bytes of a request without its body."""
_HIGH = 256 << 10
"""Bytes of answers that wait for a client."""
_KEEP_SECONDS = 75.0
"""For the next request, or the rest of its head."""
_STALL_SECONDS = 300.0
"""For more of a body, or until more of an answer is taken."""
_LINGER_SECONDS = 10.0
"""For a client that still sends what nobody reads, and is to see the answer."""
_SWEEP_SECONDS = 2.0
_BAD = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_log = structlog.get_logger(__name__)


class Connections:
    """Of one listener; makes the protocol of each connection."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.open = set[Connection]()
        self.ends = False
        """Whether no connection is kept after its answer any more."""
        self._gone = asyncio.Event()

    def __call__(self) -> "Connection":
        return Connection(self)

    async def sweep(self) -> None:
        """End those that only cost, until this is cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = time.monotonic()
            for each in list(self.open):
                each.end_if_idle(now)

    async def shut_down(self, seconds: float) -> None:
        """Requests have so long to end, and are cut off then."""
        self.ends = True
        for each in list(self.open):
            each.close_if_free()
        if not await self._all_gone(seconds):
            for each in list(self.open):
                each.abort()
            await self._all_gone(seconds)

    async def _all_gone(self, seconds: float) -> bool:
        """Whether they are in time."""
        try:
            async with asyncio.timeout(seconds):
                while self.open:
                    self._gone.clear()
                    await self._gone.wait()
        except TimeoutError:
            return False
        return True

    def forget(self, connection: "Connection") -> None:
        self.open.discard(connection)
        self._gone.set()


class Connection(asyncio.Protocol):
    """That of a client."""

    def __init__(self, owner: Connections) -> None:
        self._owner = owner
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._current: Request | None = None
        """The one that is being answered."""
        self._incoming: Request | None = None
        """The one whose body comes."""
        self._next = deque[Request]()
        self._moved = time.monotonic()
        self._writable: asyncio.Future[None] | None = None
        self._paused = self._inbox_rests = self._garbled = False
        self._lingers_since: float | None = None
        self._begin_head()

    def _begin_head(self) -> None:
        self._url = b""
        self._headers = dict[str, str]()
        self._head_size = 0
        self._in_head = False

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # That of uvloop is no subclass.
        self._owner.open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._owner.forget(self)
        for each in (self._incoming, *self._next):
            if each is not None and not each.inbox.is_complete:
                each.inbox.lose()
        self._next.clear()
        self.resume_writing()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        if self._writable is None:
            self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        self._moved = time.monotonic()
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    def data_received(self, data: bytes) -> None:
        self._moved = time.monotonic()
        if self._garbled or self._lingers_since is not None:
            return
        goes_on = self._in_head
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._garbled = True  # No other protocol is spoken; what is asked is answered.
        except httptools.HttpParserError:
            self._garble()
        else:
            if goes_on and self._in_head:
                self._head_size += len(data)
                if self._head_size > _MOST_HEAD:
                    self._garble()

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._begin_head()
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = name.decode("latin-1").lower(), value.decode(errors="surrogateescape")
        known = self._headers.get(key)
        self._headers[key] = text if known is None else f"{known},{text}"
        self._head_size += len(name) + len(value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._head_size + len(self._url) > _MOST_HEAD:
            self._garble()
            return
        method = self._parser.get_method().decode("latin-1")
        target = self._url.decode(errors="surrogateescape")
        request = Request(self, method, target, self._headers, Inbox(self._read))
        request.keeps = (
            self._parser.should_keep_alive() and self._parser.get_http_version() == "1.1"
        )
        self._incoming = request
        if self._current is None:
            self._begin(request)
        else:
            self._next.append(request)
            self._adjust()

    def on_body(self, body: bytes) -> None:
        if self._incoming is not None:
            self._incoming.inbox.put(body)

    def on_message_complete(self) -> None:
        if self._incoming is not None:
            self._incoming.inbox.end()
            self._incoming = None
        self._begin_head()

    def _garble(self) -> None:
        """What comes is no HTTP, or too long: nothing after it is read."""
        self._garbled = True
        if self._incoming is not None:
            self._incoming.inbox.lose()
        if self._current is None and self._transport is not None:
            self._transport.write(_BAD)
            self._linger()

    # Requests.

    def _begin(self, request: Request) -> None:
        self._current = request
        if self._owner.ends:
            request.keeps = False
        self._task = asyncio.get_running_loop().create_task(self._answered(request))

    async def _answered(self, request: Request) -> None:
        try:
            await self._owner.answer(request)
        except (ConnectionError, asyncio.CancelledError):
            self.abort()
        except Exception:
            _log.exception("request_failed", method=request.method)
            await self._fail(request)
        self._task = self._current = None
        self._go_on(request)

    async def _fail(self, request: Request) -> None:
        if request.answered:
            self.abort()
            return
        try:
            await request.send(Response(500))
        except ConnectionError:
            self.abort()

    def _go_on(self, request: Request) -> None:
        if self._transport is None:
            return
        if not request.inbox.is_complete:
            self._linger()
        elif not request.keeps or self._owner.ends or (self._garbled and not self._next):
            self._transport.close()
        elif self._next:
            self._begin(self._next.popleft())
            self._adjust()

    def _linger(self) -> None:
        """A connection that is closed while its client still sends takes the answer with it."""
        self._lingers_since = time.monotonic()
        if self._transport is not None:
            self._next.clear()
            self._inbox_rests = False
            self._adjust()
            self._transport.write_eof()

    def _read(self, goes_on: bool) -> None:
        self._inbox_rests = not goes_on
        self._adjust()

    def _adjust(self) -> None:
        """Rest while a body, or another request, waits for somebody to take it."""
        rests = self._inbox_rests or bool(self._next)
        transport = self._transport
        if transport is not None and not transport.is_closing() and rests != self._paused:
            self._paused = rests
            if rests:
                transport.pause_reading()
            else:
                transport.resume_reading()

    # What requests and the owner call.

    async def write(self, *pieces: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise ConnectionError("the client is gone")
        if len(pieces) == 1:
            self._transport.write(pieces[0])
        else:
            self._transport.writelines(pieces)
        if self._writable is not None:
            await self._writable

    async def flush(self) -> None:
        """Returns when the kernel has all that was written. Raises ConnectionError."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionError("the client is gone")
        transport.set_write_buffer_limits(0)
        try:
            if transport.get_write_buffer_size() and self._writable is not None:
                await self._writable
        finally:
            if self._transport is not None:  # Else it is closed, and takes no settings.
                transport.set_write_buffer_limits()

    def doubled(self) -> int:
        if self._transport is None or self._transport.is_closing():
            raise ConnectionError("the client is gone")
        return os.dup(self._transport.get_extra_info("socket").fileno())

    async def ready(self, number: int, _left: int) -> None:
        """Who takes nothing is ended as for any answer."""
        loop, writable = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
        self._writable = writable
        loop.add_writer(number, self.resume_writing)
        try:
            await writable
        finally:
            loop.remove_writer(number)
        if self._transport is None:
            raise ConnectionError("the client is gone")

    def write_now(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def close_if_free(self) -> None:
        if self._current is None and self._transport is not None:
            self._transport.close()

    def end_if_idle(self, now: float) -> None:
        if self._lingers_since is not None:
            idle, most = now - self._lingers_since, _LINGER_SECONDS
        elif self._current is None:
            idle, most = now - self._moved, _KEEP_SECONDS
        elif self._writable is not None:
            idle, most = now - self._moved, _STALL_SECONDS
        else:
            waits_since = self._current.inbox.waits_since
            idle, most = 0.0 if waits_since is None else now - waits_since, _STALL_SECONDS
        if idle > most:
            self.abort()
