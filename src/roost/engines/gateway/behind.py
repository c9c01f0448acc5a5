"""A connection to the server behind."""

import asyncio
import os
import socket
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import cast

import httptools

from roost.engines.gateway.splicing import LEAST

_HIGH, _LOW = 1 << 20, 1 << 18
"""Bytes that wait for whoever reads them, until no more is read, and again."""
_WAKE = 256 << 10
"""Bytes that come before it is worth to move them."""
_IDLE_SECONDS = 20.0


class Connection(asyncio.Protocol):
    """One request after the other."""

    def __init__(self, opened: "set[Connection]") -> None:
        self._all = opened
        self._transport: asyncio.Transport | None = None
        self._closed = False
        self.used = time.monotonic()
        self._news: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self.waits_since: float | None = None
        """For this connection to go on (monotonic seconds)."""
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._complete = False
        self._headed = False
        self._paused = False
        self._head_only = False
        self._passes = False
        self.left = 0
        """Bytes of the answer's body that are left in the socket."""

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # That of uvloop is no subclass.
        self._all.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._closed = True
        self._all.discard(self)
        self._tell()
        self.resume_writing()

    def pause_writing(self) -> None:
        if self._writable is None:
            self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.drop()

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1").lower(), value.decode("utf-8", "replace")))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status >= 200:
            self._headed = True
            if self._head_only:
                self._complete = True
            elif self._passes and self.status in (200, 206):
                self._leave_body()
            self._tell()
        else:
            self.headers.clear()

    def _leave_body(self) -> None:
        length = next((int(value) for name, value in self.headers if name == "content-length"), 0)
        if length >= LEAST and self._transport is not None:
            self.left = length
            self._paused = True
            self._transport.pause_reading()

    def on_body(self, body: bytes) -> None:
        if self.left:
            self.left -= len(body)
        self._pieces.append(body)
        self._waiting += len(body)
        if self._waiting > _HIGH and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._tell()

    def on_message_complete(self) -> None:
        if self.status >= 200:
            self._complete = True
            self._tell()

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    # What we do.

    @property
    def usable(self) -> bool:
        idle = time.monotonic() - self.used
        return not self._closed and self._complete and idle < _IDLE_SECONDS

    @property
    def finished(self) -> bool:
        return self._complete and not self._pieces

    def drop(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def begin(self, head: bytes, first: bytes, *, head_only: bool, passes: bool) -> bool:
        """With one call of the system for both, which is what a small request costs."""
        self._begin()
        self._head_only, self._passes = head_only, passes
        return await self.write(head, first)

    async def write(self, *pieces: bytes) -> bool:
        """Whether more can be written: an answer ends that."""
        assert self._transport is not None
        self._transport.writelines(pieces)
        if self._writable is not None:
            await self._wait_for(self._writable)
        return not (self._closed or self._headed)

    async def _more(self) -> None:
        self._news = asyncio.get_running_loop().create_future()
        await self._wait_for(self._news)

    async def _wait_for(self, news: "asyncio.Future[None]") -> None:
        """`Upstream.sweep` ends what takes too long, as a timer for each wait costs more."""
        self.waits_since = time.monotonic()
        try:
            await news
        finally:
            self.waits_since = None

    async def answer(self) -> int:
        """The status; ConnectionError when there is none."""
        while not self._headed:
            if self._closed:
                raise ConnectionError
            await self._more()
        return self.status

    def doubled(self) -> int:
        if self._closed or self._transport is None:
            raise ConnectionError
        return os.dup(self._transport.get_extra_info("socket").fileno())

    async def ready(self, number: int, left: int) -> None:
        """Not for each few bytes, which would cost as much as many."""
        if self._closed:
            raise ConnectionError
        self._wake_at(min(left, _WAKE))
        loop = asyncio.get_running_loop()
        loop.add_reader(number, self._tell)
        try:
            await self._more()
        finally:
            loop.remove_reader(number)

    def _wake_at(self, size: int) -> None:
        if not self._closed and self._transport is not None:
            own: socket.socket = self._transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)

    def begun(self) -> list[bytes]:
        """What has come of a body of which the rest is left in the socket."""
        found = list(self._pieces)
        self._pieces.clear()
        self._waiting = 0
        return found

    def moved(self) -> None:
        """All that was left has been moved."""
        self.left = 0
        self._wake_at(1)
        self._complete, self._paused = True, False
        if self._transport is not None:
            self._transport.resume_reading()

    async def pieces(self) -> AsyncIterator[bytes]:
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                self._waiting -= len(piece)
                yield piece
            if self._paused and self._waiting < _LOW and self._transport is not None:
                self._paused = False
                self._transport.resume_reading()
            if self._complete:
                return
            if self._closed:
                raise ConnectionError("the server behind has ended in the middle of an answer")
            await self._more()
