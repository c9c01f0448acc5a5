"""HTTP/1.1 below the application: bounds of a request's head, of time and of connections.

Uvicorn's protocol knows none of them, and answers what it cannot read with plain text.
"""

import asyncio
from asyncio.events import TimerHandle
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from roost.errors import ErrorBody
from roost.web.connections import Connection, Connections
from roost.web.cycle import Cycle
from roost.web.headers import UNCACHED
from roost.web.reply import Header

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

MAX_HEAD = 32 * 1024
"""Bytes of a request's line and headers together; of a chunked body's framing and trailers."""
MAX_LINES = 100
MAX_URL = 8 * 1024
MAX_SMALL_PIECES = 2000
"""Of a body: each costs as much as a large one."""
_SMALL = 128
"""Bytes."""
UPGRADED = b"/consoles/"
"""Below which requests may become WebSockets."""
HEAD_SECONDS = 20.0
"""From a connection's beginning, or from the first byte of a later request, to its headers' end."""
_LINGER_SECONDS = 1.0
"""What a refused client still sends is thrown away so long, else it would not see the answer."""
_MAX_LINGERING = 64

_METHODS: Header = (b"allow", b"DELETE, GET, HEAD, OPTIONS, POST, PUT")
_RETRY: Header = (b"retry-after", b"1")
_TOO_LARGE = f"The headers must have at most {MAX_HEAD} bytes and {MAX_LINES} lines"
_TOO_MANY_PIECES = f"The body comes in too many pieces of less than {_SMALL} bytes"
_TOO_LONG = f"The URL must have at most {MAX_URL} bytes"


class _RefusalError(Exception):
    """Ends the parsing of a request that is answered with this status and reason."""

    def __init__(self, status: int, reason: str, *headers: Header) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = headers


class BoundedProtocol(HttpToolsProtocol):
    """One connection; use `bounded` to say which connections it is counted with."""

    counted_as: Connection | None = None
    """Who has its place among the connections until it is made."""
    _bounds: ClassVar[Connections]
    _unread = 0
    """Bytes since the last that came to something: a whole head, a piece of a body, its end."""
    _pieces = 0
    _body = 0
    """Pieces and bytes of the body that comes."""
    _deadline: TimerHandle | None = None
    _refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Uvloop's transports are of no class of asyncio's.
        super().connection_made(cast("asyncio.Transport", transport))
        if self.counted_as is not None:
            self._bounds.leave(self.counted_as)
        if self._bounds.enter(self, self.client[0] if self.client else ""):
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._expire)
        elif len(self.connections) > len(self._bounds) + _MAX_LINGERING:
            self.drop()
        else:
            self._refuse(_RefusalError(429, "Too many connections", _RETRY))

    def connection_lost(self, exc: Exception | None) -> None:
        self._meet_deadline()
        self._bounds.leave(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unset_keepalive_if_required()
        self._unread += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                return
            # No other protocol is spoken here: the request is answered like any other.
        except httptools.HttpParserError as error:
            self._refuse(_explain(error))
            return
        if self._unread > MAX_HEAD:
            self._refuse(_RefusalError(431, _TOO_LARGE))
        elif self._deadline is None and not self._is_busy():
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._expire)

    def _should_upgrade(self) -> bool:
        return self.url.startswith(UPGRADED)

    def handle_websocket_upgrade(self) -> None:
        """It stays a connection on which something is being answered, until it ends."""
        from roost.web.websockets import BoundedSocket  # 4 MB of memory.

        self.ws_protocol_class = BoundedSocket
        super().handle_websocket_upgrade()
        upgraded = self.transport.get_protocol()
        assert isinstance(upgraded, BoundedSocket)
        upgraded.on_lost = partial(self._bounds.leave, self)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > MAX_URL:
            raise _RefusalError(414, _TOO_LONG)

    def on_headers_complete(self) -> None:
        if len(self.headers) > MAX_LINES or (self._unread > MAX_HEAD and self._is_too_large()):
            raise _RefusalError(431, _TOO_LARGE)
        self._unread = self._pieces = self._body = 0
        self._meet_deadline()
        self._bounds.begin(self)
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        cycle.__class__ = Cycle  # Uvicorn makes one of its own class.
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        self._pieces += 1
        self._body += len(body)
        if self._pieces > MAX_SMALL_PIECES + self._body // _SMALL:
            raise _RefusalError(400, _TOO_MANY_PIECES)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_busy():
            self._bounds.end(self)

    def timeout_keep_alive_handler(self) -> None:
        """A client that does not read its answer would else keep it in memory."""
        self.transport.abort()

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _is_too_large(self) -> bool:
        """The bytes that came may be of a body already, or of a request before."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        return size > MAX_HEAD

    def _meet_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        if self._unread:
            self._refuse(_RefusalError(408, "Request Timeout"))
        else:
            self.transport.abort()

    def _refuse(self, refusal: _RefusalError) -> None:
        """Answer in the API's form, and read no more requests."""
        self._refused = True
        self._meet_deadline()
        if self.transport.is_closing():
            return
        if not self._is_busy():
            self.transport.write(_render(refusal))
            if self.transport.can_write_eof():  # TLS cannot.
                self.transport.write_eof()
            self.loop.call_later(_LINGER_SECONDS, self.transport.abort)
            return
        if not self.cycle.response_started:
            self.transport.write(_render(refusal))
        self.transport.close()


def bounded(connections: Connections) -> type[BoundedProtocol]:
    """The protocol of a server whose connections are counted there."""
    return type("CountedProtocol", (BoundedProtocol,), {"_bounds": connections})


def _explain(error: httptools.HttpParserError) -> _RefusalError:
    if isinstance(error.__context__, _RefusalError):
        return error.__context__
    if isinstance(error, httptools.HttpParserInvalidMethodError):
        return _RefusalError(405, "Method Not Allowed", _METHODS)
    return _RefusalError(400, "Invalid HTTP request")


def _render(refusal: _RefusalError) -> bytes:
    error: ErrorBody = {"errors": [{"reason": refusal.reason}]}
    body = orjson.dumps(error)
    headers = (
        *UNCACHED,
        *refusal.headers,
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    )
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return STATUS_LINE[refusal.status] + lines + b"\r\n" + body
