"""Requests of clients with their bodies, and answers to them, as HTTP/1.1 has them (RFC 9112)."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol

from roost.engines.gateway.splicing import End, spliced

_HIGH, _LOW = 256 << 10, 128 << 10
"""Bytes of a body that wait for whoever reads them, until no more is read, and again."""
_MOST_LINE = 64 << 10
_PHRASES = {each.value: each.phrase for each in HTTPStatus}
_WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class Channel(End, Protocol):
    """Where answers go."""

    async def write(self, *pieces: bytes) -> None:
        """Returns when more may be written. Raises ConnectionError."""
        ...

    def write_now(self, data: bytes) -> None: ...

    async def flush(self) -> None:
        """Returns when the kernel has all that was written. Raises ConnectionError."""
        ...

    def abort(self) -> None:
        """End the connection, so that nobody takes what was sent for the whole."""
        ...


class Inbox:
    """The body of a request as it comes."""

    def __init__(self, read: Callable[[bool], None]) -> None:
        """`read`: lets the connection go on reading, or rest."""
        self._read = read
        self._pieces = deque[bytes]()
        self._size = 0
        self._rests = False
        self._ended = False
        self._lost = False
        self._news: asyncio.Future[None] | None = None
        self.waits_since: float | None = None
        """When the reader began to wait for more (monotonic seconds)."""

    # What the connection calls.

    def put(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > _HIGH and not self._rests:
            self._rests = True
            self._read(False)
        self._tell()

    def end(self) -> None:
        self._ended = True
        self._tell()

    def lose(self) -> None:
        """Nothing more comes, though it is not at its end."""
        self._lost = True
        self._tell()

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    # What readers call; all raise ConnectionError where the body was cut off.

    @property
    def is_complete(self) -> bool:
        """Whether all of it has come, be it read or not."""
        return self._ended

    async def any(self) -> bytes:
        """What is there; nothing at its end."""
        await self._some()
        found = self._pieces.popleft() if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._taken(len(found))
        return found

    async def exactly(self, size: int) -> bytes:
        """Raises EOFError when less comes."""
        found, left = list[bytes](), size
        while left:
            await self._some()
            if not self._pieces:
                raise EOFError
            found.append(self._first(left))
            left -= len(found[-1])
        return found[0] if len(found) == 1 else b"".join(found)

    async def line(self) -> bytes:
        """With the end of the line, unless the body ends before, or it is too long."""
        found = b""
        while len(found) < _MOST_LINE:
            await self._some()
            if not self._pieces:
                break
            place = self._pieces[0].find(b"\n") + 1
            found += self._first(place or len(self._pieces[0]))
            if place:
                break
        return found

    async def whole(self) -> bytes:
        """For those who know that it is small."""
        found = list[bytes]()
        while piece := await self.any():
            found.append(piece)
        return b"".join(found)

    def _first(self, most: int) -> bytes:
        piece = self._pieces.popleft()
        if len(piece) > most:
            self._pieces.appendleft(piece[most:])
            piece = piece[:most]
        self._taken(len(piece))
        return piece

    def _taken(self, size: int) -> None:
        self._size -= size
        if self._rests and self._size < _LOW:
            self._rests = False
            self._read(True)

    async def _some(self) -> None:
        while not self._pieces and not self._ended:
            if self._lost:
                raise ConnectionError("the body of a request was cut off")
            self._news = asyncio.get_running_loop().create_future()
            self.waits_since = time.monotonic()
            try:
                await self._news
            finally:
                self._news = self.waits_since = None


class Response:
    """An answer: a whole one, or the head of one that is written piece by piece."""

    __slots__ = ("begun", "body", "headers", "status")

    def __init__(
        self,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str | None = None,
    ) -> None:
        self.status = status
        self.headers = dict(headers or {})
        self.body = body
        self.begun = False
        if content_type is not None:
            self.headers["content-type"] = content_type


class Request:
    """Of a client, with what is answered to it."""

    __slots__ = (
        "_channel",
        "_chunked",
        "answered",
        "headers",
        "inbox",
        "keeps",
        "method",
        "target",
    )

    def __init__(
        self, channel: Channel, method: str, target: str, headers: dict[str, str], inbox: Inbox
    ) -> None:
        self._channel = channel
        self._chunked = False
        self.method = method
        self.target = target
        """As it was sent."""
        self.headers = headers
        """Names in small letters; several of a name as one."""
        self.inbox = inbox
        self.keeps = True
        """Whether the connection stays open after the answer."""
        self.answered = False
        """Whether an answer has begun."""

    def go_on(self) -> None:
        """The client may send the body for which it asked whether it may."""
        self._channel.write_now(b"HTTP/1.1 100 Continue\r\n\r\n")

    def abort(self) -> None:
        self._channel.abort()

    async def send(self, response: Response) -> None:
        """All of it. What was not read of the request is read by nobody any more."""
        if not self.inbox.is_complete:
            self.keeps = False
        body = response.body or b""
        if response.status not in _WITHOUT_BODY and (
            body or "content-length" not in response.headers
        ):
            response.headers["content-length"] = str(len(body))
        head = self._head(response)
        if not body or self.method == "HEAD" or response.status in _WITHOUT_BODY:
            await self._channel.write(head)
        else:
            await self._channel.write(head, body)

    async def begin(self, response: Response) -> None:
        """Its head; `write` goes on, and `finish` ends it."""
        bare = self.method == "HEAD" or response.status in _WITHOUT_BODY
        if not bare and self.keeps and "content-length" not in response.headers:
            self._chunked = True
            response.headers["transfer-encoding"] = "chunked"
        await self._channel.write(self._head(response))

    async def write(self, piece: bytes) -> None:
        if self._chunked:
            await self._channel.write(b"%x\r\n" % len(piece), piece, b"\r\n")
        else:
            await self._channel.write(piece)

    async def splice(self, source: End, size: int) -> AsyncGenerator[int, None]:
        """Write so many bytes from another connection, in an answer whose length is told; tells of
        each part. Raises ConnectionError."""
        await self._channel.flush()
        async with aclosing(spliced(source, self._channel, size)) as moved:
            async for each in moved:
                yield each

    async def finish(self) -> None:
        if self._chunked:
            await self._channel.write(b"0\r\n\r\n")

    def _head(self, response: Response) -> bytes:
        lines = [f"HTTP/1.1 {response.status} {_PHRASES.get(response.status, '')}"]
        lines += [f"{name}: {value}" for name, value in response.headers.items()]
        lines.append(f"Date: {_date(int(time.time()))}")
        if not self.keeps:
            lines.append("Connection: close")
        text = "\r\n".join(lines)
        if text.count("\n") >= len(lines) or text.count("\r") >= len(lines):
            raise ValueError("a header of an answer has more than one line")
        response.begun = self.answered = True
        return f"{text}\r\n\r\n".encode(errors="surrogateescape")


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
