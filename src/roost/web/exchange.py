"""One HTTP exchange, close to ASGI: reading the request, writing the answer."""

import asyncio
import random
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import orjson
from starlette.types import Receive, Scope, Send

from roost.core.identity import Identity
from roost.errors import ApiError, ErrorBody, Problem
from roost.web.access_log import AccessLine
from roost.web.headers import caller_headers
from roost.web.rates import Window
from roost.web.reply import Header, Reply

if TYPE_CHECKING:
    from roost.web.registry import Endpoint
    from roost.web.revisions.spoken import Spoken

_HOST = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_PREFIXES = ("/v4beta", "/v4")
_BODILESS = (204, 304)


@dataclass(slots=True)
class Exchange:
    """What is known of a request; filled in as it passes the checks."""

    scope: Scope
    method: str
    path: str
    headers: Mapping[bytes, bytes]
    request_id: str
    endpoint: "Endpoint | None" = None
    identity: Identity | None = None
    window: Window | None = None
    entered: int | None = None
    """The user that it counts for as one of the requests at once."""
    spoken: "Spoken | None" = None
    """The former revision that the caller speaks; None for the newest."""
    trace_id: str | None = None
    """None where nobody keeps traces."""

    @classmethod
    def of(cls, scope: Scope) -> "Exchange":
        path = _path(scope)
        prefix = next((p for p in _PREFIXES if path.startswith(p)), "")
        request_id = f"{random.getrandbits(64):016x}"
        return cls(scope, scope["method"], path[len(prefix) :], dict(scope["headers"]), request_id)

    @property
    def client(self) -> str:
        client = self.scope.get("client")
        return str(client[0]) if client else "local"

    @property
    def base(self) -> str:
        """The scheme and host that the client has used, as far as that is a host."""
        host = self.header(b"host") or ""
        return f"{self.scope['scheme']}://{host if _HOST.fullmatch(host) else 'localhost'}"

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("utf-8", "replace")

    def query(self) -> dict[str, str]:
        text = self.scope["query_string"].decode("ascii", "replace")
        return dict(parse_qsl(text, keep_blank_values=True)) if text else {}

    def line(self, time: str, reply: Reply, seconds: float) -> AccessLine:
        line: AccessLine = {
            "time": time,
            "request_id": self.request_id,
            "method": self.method,
            "path": self.scope["path"],
            "operation": self.endpoint.name if self.endpoint else None,
            "status": reply.status,
            "duration_ms": round(seconds * 1000, 3),
            "bytes": len(reply.body),
            "client": self.client,
            "user": self.identity.username if self.identity else None,
            "token_id": self.identity.token_id if self.identity else None,
        }
        if self.trace_id is not None:
            line["trace_id"] = self.trace_id
        return line


def _path(scope: Scope) -> str:
    """Without slashes at its end; those that were sent as %2F belong to a name."""
    path: str = scope["path"]
    raw: bytes = scope["raw_path"]
    slashes = len(raw) - len(raw.rstrip(b"/"))
    return path[: len(path) - slashes]


def refusal(error: ApiError) -> Reply:
    body: ErrorBody = {"errors": [problem.item() for problem in error.problems]}
    return Reply(error.status, orjson.dumps(body), error.headers)


def allow(methods: Iterable[str]) -> tuple[tuple[bytes, bytes], ...]:
    """The Allow header of a path."""
    names = sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
    return ((b"allow", ", ".join(names).encode()),)


def check_type(exchange: Exchange, accepted: Collection[str]) -> None:
    """Raises 415 when a body is not declared as one of the accepted media types."""
    declared = exchange.header(b"content-type") or ""
    if declared.partition(";")[0].strip().lower() not in accepted:
        raise ApiError(415, [Problem(f"Content-Type must be {' or '.join(accepted)}")])


def check_json(exchange: Exchange) -> None:
    """Raises 415 when a body is declared as something other than JSON."""
    declared = exchange.header(b"content-type") or "application/json"
    media_type = declared.partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise ApiError(415, [Problem("Content-Type must be application/json")])


def check_encoding(exchange: Exchange) -> None:
    """Raises 415 for a body that is compressed, and says what is read (RFC 9110, 12.5.3)."""
    encoding = (exchange.header(b"content-encoding") or "").strip().lower()
    if encoding not in ("", "identity"):
        problem = Problem("Content-Encoding is not supported: send the body as it is")
        raise ApiError(415, [problem], ((b"accept-encoding", b"identity"),))


_READ_SECONDS = 60
"""For a whole body, at the limit's size over a slow line."""


async def read(exchange: Exchange, receive: Receive, limit: int) -> bytes:
    """The whole body; raises 413 when it is longer than `limit` bytes."""
    try:
        async with asyncio.timeout(_READ_SECONDS):
            return await _read(receive, limit)
    except TimeoutError:
        raise ApiError(408, [Problem("Request Timeout")]) from None


async def _read(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(408, [Problem("Request Timeout")])
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise ApiError(413, [Problem(f"The body must not be larger than {limit} bytes")])
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def headers_of(exchange: Exchange, reply: Reply, static: tuple[Header, ...]) -> list[Header]:
    """All headers of an answer but its length."""
    of_caller = caller_headers(exchange.identity, exchange.window)
    if exchange.spoken is not None:
        static = exchange.spoken.static(static)
    if reply.headers:
        own = dict(reply.headers)
        of_caller = (header for header in of_caller if header[0] not in own)
    headers = [
        *static,
        *reply.headers,
        *of_caller,
        (b"x-request-id", exchange.request_id.encode()),
    ]
    if reply.content_type is not None or reply.status in _BODILESS:
        headers = [header for header in headers if header[0] != b"content-type"]
    if reply.content_type is not None:
        headers.append((b"content-type", reply.content_type))
    return headers


async def send_reply(
    exchange: Exchange, reply: Reply, static: tuple[Header, ...], send: Send
) -> None:
    headers = headers_of(exchange, reply, static)
    if reply.status not in _BODILESS:
        headers.append((b"content-length", b"%d" % len(reply.body)))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    body = b"" if exchange.method == "HEAD" else reply.body
    await send({"type": "http.response.body", "body": body})
