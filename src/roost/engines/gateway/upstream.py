"""Requests to the server behind, on connections that are kept."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from urllib.parse import quote
from xml.sax.saxutils import unescape

from roost.engines.gateway.behind import Connection
from roost.engines.gateway.faults import S3Error, unavailable
from roost.engines.gateway.signing import UNSIGNED, quoted_path, sign

Query: TypeAlias = Sequence[tuple[str, str]]

_SAFE = "-_.~"
_MOST_IDLE = 64
_STALL_SECONDS = 300.0
"""Between two pieces."""
_SWEEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request to the server behind."""

    method: str
    path: str
    """Without escapes."""
    query: Query = ()
    headers: Mapping[str, str] | None = None
    length: int = 0
    pieces: AsyncIterator[bytes] | None = None
    payload: str = UNSIGNED
    passes: bool = False
    """Whether a long answer's body is left in the socket, to be moved from there."""

    @property
    def may_be_repeated(self) -> bool:
        """Whether it does the same where it has been done already: a condition has another answer
        then, and so has what begins or ends an upload."""
        if self.method in ("GET", "HEAD"):
            return True
        conditional = any(name.startswith("if-") for name in self.headers or ())
        return self.method != "POST" and not conditional


@dataclass(frozen=True, slots=True)
class Incoming:
    """The answer of the server behind."""

    status: int
    headers: Sequence[tuple[str, str]]
    connection: Connection

    def header(self, name: str) -> str | None:
        return next((value for found, value in self.headers if found == name), None)

    async def read(self) -> bytes:
        """All of it. Raises S3Error."""
        try:
            return b"".join([piece async for piece in self.connection.pieces()])
        except ConnectionError:
            raise unavailable() from None


class Upstream:
    """The S3 port of the server behind, of which only we know the key."""

    def __init__(self, host: str, port: int, secret: str) -> None:
        self._host = host
        self._port = port
        self._secret = secret
        self._idle: list[Connection] = []
        self._open = set[Connection]()

    async def sweep(self) -> None:
        """Drop connections on which nothing comes, until this is cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = time.monotonic()
            for each in list(self._open):
                if each.waits_since is not None and now - each.waits_since > _STALL_SECONDS:
                    each.drop()

    async def send(self, outgoing: Outgoing) -> Incoming:
        """The answer's head; give it back with `release` when its body was read. The request is
        not begun before the first piece of its body is there. Raises S3Error."""
        first = b""
        if outgoing.pieces is not None:
            first = await anext(outgoing.pieces, b"")
        is_whole = outgoing.pieces is None or len(first) == outgoing.length
        again = is_whole and outgoing.may_be_repeated
        while True:
            kept = self._kept()
            connection = kept or await self._connect()
            try:
                return await self._sent(connection, outgoing, first)
            except ConnectionError:
                connection.drop()
                if kept is None or not again:
                    raise unavailable() from None
            except BaseException:
                connection.drop()
                raise

    async def call(self, outgoing: Outgoing) -> tuple[Incoming, bytes]:
        """The answer with its body. Raises S3Error."""
        incoming = await self.send(outgoing)
        try:
            body = await incoming.read()
        finally:
            self.release(incoming)
        return incoming, body

    def release(self, incoming: Incoming) -> None:
        """Keep the connection for another request, unless something is left of the answer."""
        connection, closes = incoming.connection, incoming.header("connection") == "close"
        if connection.finished and not closes and len(self._idle) < _MOST_IDLE:
            connection.used = time.monotonic()
            self._idle.append(connection)
        else:
            connection.drop()

    async def _sent(self, connection: Connection, outgoing: Outgoing, first: bytes) -> Incoming:
        head_only = outgoing.method == "HEAD"
        going = await connection.begin(
            self._head(outgoing), first, head_only=head_only, passes=outgoing.passes
        )
        if outgoing.pieces is not None and len(first) < outgoing.length:
            async for piece in outgoing.pieces:
                if not going:
                    break
                going = await connection.write(piece)
        status = await connection.answer()
        return Incoming(status, connection.headers, connection)

    def _kept(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            connection.drop()
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(10):
                _, made = await loop.create_connection(
                    partial(Connection, self._open), self._host, self._port
                )
                return made
        raise unavailable()

    def _head(self, outgoing: Outgoing) -> bytes:
        headers = {"host": f"{self._host}:{self._port}", **(outgoing.headers or {})}
        headers = sign(
            outgoing.method,
            outgoing.path,
            outgoing.query,
            headers,
            outgoing.payload,
            self._secret,
        )
        target = quoted_path(outgoing.path)
        if outgoing.query:
            target += "?" + "&".join(
                f"{quote(name, safe=_SAFE)}={quote(value, safe=_SAFE)}"
                for name, value in outgoing.query
            )
        if outgoing.pieces is not None or outgoing.method in ("PUT", "POST"):
            headers["content-length"] = str(outgoing.length)
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"{outgoing.method} {target} HTTP/1.1\r\n{lines}\r\n"
        return head.encode("utf-8", "surrogateescape")


async def of_bytes(data: bytes) -> AsyncIterator[bytes]:
    """A body that is there already."""
    if data:
        yield data


def refused(status: int, body: bytes) -> S3Error:
    """The server's refusal as ours."""
    text = body.decode(errors="replace")

    def found(tag: str) -> str:
        return unescape(text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0])

    return S3Error(status, found("Code") or "InternalError", found("Message"))
