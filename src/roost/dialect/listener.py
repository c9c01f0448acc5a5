"""The ASGI application in front of all others that translates, both ways."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roost.core.catalog import Catalog
from roost.dialect import clusters, paths
from roost.dialect.answers import is_missing, say_error
from roost.dialect.clusters import Clusters
from roost.dialect.known import KnownAnswers
from roost.dialect.operations import Operations
from roost.dialect.requests import back_path, depends, translate_body, value_back
from roost.dialect.table import Dialect
from roost.dialect.texts import exchange_scopes, say
from roost.web.docs import DOCUMENT_PATHS
from roost.web.registry import EVENT_STREAM, Registry, Stream
from roost.web.reply import Header
from roost.web.translation import Json, Rewrite, parse, rewrite_messages

_VERSIONS = ("/v4beta", "/v4")
_LOGIN = ("/login", "/logout", "/oauth/", "/.well-known/")
"""Where people and OAuth clients are."""
_FORM = b"application/x-www-form-urlencoded"
_READ = (b"text/html", b"application/json")
"""Media types in which people and OAuth clients are answered."""
_LEAVING = "/logout"
_OF_CALLER = (b"authorization", b"host", b"user-agent")
"""Headers of a request that another one of the same caller has too."""
_SCOPES = (b"x-oauth-scopes", b"x-accepted-oauth-scopes")


_WANTED = {"action": "action", "entity_type": "type"}
"""Parameters of streams, and the fields whose values they name."""

_MISSING = orjson.dumps({"errors": [{"reason": "Not found"}]})


@dataclass(slots=True)
class Asked:
    """What a request was about, as far as its answer depends on it."""

    path: str
    rewrite: Rewrite | None
    head: bool
    """Whether only the headers are wanted."""
    preflight: bool
    """Whether a browser asks what it may ask."""
    by_region: bool = False
    """Whether it named regions where the API names clusters."""


class Listener:
    """Another application, in the words of a dialect."""

    def __init__(
        self,
        dialect: Dialect,
        operations: Operations,
        app: ASGIApp,
        max_body: int,
        catalog: Catalog,
    ) -> None:
        self._dialect = dialect
        self._registry = operations.registry
        self._app = app
        self._max_body = max_body
        self._clusters = Clusters(catalog)
        # Few are different, and most answers have the same.
        self._said_scopes = lru_cache(1000)(partial(exchange_scopes, dialect))
        self._rewrites: Mapping[str, Rewrite] = _of_streams(
            operations.registry, self._clusters.added_to(operations.answers, operations.registry)
        )
        self._filters: Mapping[str, Rewrite] = self._clusters.filters_of(
            operations.filters, operations.registry
        )
        self._known = KnownAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        version = next((v for v in _VERSIONS if path.startswith(f"{v}/")), None)
        if version is not None and path not in DOCUMENT_PATHS:
            await self._call_api(scope, receive, send, version)
        elif path.startswith(_LOGIN):
            await self._call_login(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _call_api(self, scope: Scope, receive: Receive, send: Send, version: str) -> None:
        path = paths.back(self._dialect, scope["path"][len(version) :])
        path = self._clusters.path_back(path)
        # HEAD is answered as GET, so that the length is that of the translated body.
        head = scope["method"] == "HEAD"
        method = "GET" if head else scope["method"]
        plain = path.rstrip("/")
        match = self._registry.router.find(plain)
        endpoint = None if match is None else match.methods.get(method)
        inner = {**scope, "path": version + path, "method": method}
        asked = Asked(plain, None, head, preflight=method == "OPTIONS")
        if endpoint is not None:
            asked.rewrite = self._rewrites.get(endpoint.name)
            if endpoint.name in self._filters:
                inner["headers"] = self._headers_back(scope["headers"], endpoint.name)
            if endpoint.query:
                inner["query_string"] = self._query_back(scope["query_string"])
            if isinstance(endpoint.returns, Stream):
                inner["query_string"] = self._wanted_back(scope["query_string"], head)
            if endpoint.body is not None:
                receive = self._json_back(inner, receive, asked, endpoint.max_body)
        await self._app(inner, receive, self._answer(send, asked))

    def _headers_back(self, headers: Iterable[Header], operation: str) -> list[Header]:
        change = self._filters[operation]
        return [(k, change(v) if k == b"x-filter" else v) for k, v in headers]

    def _query_back(self, query: bytes) -> bytes:
        fields = self._dialect.path_fields
        given = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        said = [
            (name, back_path(self._dialect, value) if name in fields else value)
            for name, value in given
        ]
        return query if said == given else urlencode(said).encode()

    def _wanted_back(self, query: bytes, head: bool) -> bytes:
        """Which events a stream is asked for; one whose headers alone are wanted ends at once."""
        given = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        said = []
        for name, value in given:
            each = value.split(",")
            if (field := _WANTED.get(name)) is not None:
                each = [value_back(self._dialect, field, one) for one in each]
            said.append((name, ",".join(each)))
        if head:
            said.append(("seconds", "0"))
        return urlencode(said).encode()

    def _json_back(
        self, scope: Scope, receive: Receive, asked: Asked, max_body: int | None
    ) -> Receive:
        if asked.path in self._dialect.opaque_paths:
            return receive

        async def change(body: bytes) -> bytes:
            stored = None
            if depends(self._dialect, asked.path, body):
                stored = await self._stored(scope)
            body = translate_body(self._dialect, asked.path, body, stored)
            asked.by_region = clusters.is_named(asked.path) and clusters.names_regions(body)
            return self._clusters.body_back(asked.path, body)

        return _changed(receive, max_body or self._max_body, change)

    async def _stored(self, scope: Scope) -> dict[str, Json] | None:
        """The record of a path in our words, as its caller sees it; None where they do not."""
        status, body = 0, b""

        async def nothing() -> Message:
            return {"type": "http.request", "body": b""}

        async def keep(message: Message) -> None:
            nonlocal status, body
            status = message.get("status", status)
            body += message.get("body", b"")

        headers = [each for each in scope["headers"] if each[0] in _OF_CALLER]
        await self._app({**scope, "method": "GET", "headers": headers}, nothing, keep)
        return parse(body) if status == 200 else None

    def _answer(self, send: Send, asked: Asked) -> Send:
        """Answers of the API come in two messages: the second has the whole body. Only those that
        go on come in pieces."""
        start: Message = {}
        goes_on = False

        async def translated(message: Message) -> None:
            nonlocal start, goes_on
            if message["type"] == "http.response.start":
                start, goes_on = message, _goes_on(message)
                if goes_on:
                    await send(message)
                return
            body: bytes = message.get("body", b"")
            if goes_on:
                change = asked.rewrite
                await send({**message, "body": change(body)} if change and body else message)
                return
            if start["status"] >= 400:
                start["status"], body = self._refusal(asked, start["status"], body)
            elif asked.rewrite is not None and body:
                body = self._known.rewritten(asked.rewrite, body)
            headers = start["headers"]
            for at, (name, value) in enumerate(headers):
                if name == b"content-length":
                    headers[at] = name, b"%d" % len(body)
                elif name in _SCOPES:
                    headers[at] = name, self._said_scopes(value)
            await send(start)
            await send({**message, "body": b"" if asked.head else body})

        return translated

    def _refusal(self, asked: Asked, status: int, body: bytes) -> tuple[int, bytes]:
        if status == 404 and asked.preflight:
            # A browser shall be told that the path is not there, and not that it may not ask.
            return 200, b"{}"
        if status == 400 and is_missing(self._dialect, asked.path, body):
            return 404, _MISSING
        if asked.by_region:
            body = clusters.say_error(body)
        return status, say_error(self._dialect, body)

    async def _call_login(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pages and endpoints where only scopes are named otherwise, and texts."""
        inner = {**scope, "query_string": exchange_scopes(self._dialect, scope["query_string"])}
        if dict(scope["headers"]).get(b"content-type", b"").startswith(_FORM):
            receive = _changed(receive, self._max_body, self._form_back)
        if scope["path"] == _LEAVING and scope["method"] == "GET":
            # Whoever is sent there is shown who they are, and a button to leave.
            inner["path"] = "/login"
        await self._app(inner, receive, self._page(send))

    async def _form_back(self, body: bytes) -> bytes:
        return exchange_scopes(self._dialect, body)

    def _page(self, send: Send) -> Send:
        start: Message = {}
        body = bytearray()

        async def translated(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            headers: dict[bytes, bytes] = dict(start["headers"])
            said = self._read(bytes(body), headers.get(b"content-type", b""))
            changed = {b"content-length": b"%d" % len(said)} if body else {}
            if b"location" in headers:
                changed[b"location"] = exchange_scopes(self._dialect, headers[b"location"])
            start["headers"] = [(k, changed.get(k, v)) for k, v in start["headers"]]
            await send(start)
            await send({"type": "http.response.body", "body": said})

        return translated

    def _read(self, body: bytes, media_type: bytes) -> bytes:
        if not media_type.startswith(_READ):
            return body
        body = exchange_scopes(self._dialect, body)
        if media_type.startswith(_READ[0]):
            return say(self._dialect, body.decode()).encode()
        return body


def _of_streams(registry: Registry, rewrites: Mapping[str, Rewrite]) -> Mapping[str, Rewrite]:
    """With those of streams, whose bodies are messages."""
    streams = [each.name for each in registry if isinstance(each.returns, Stream)]
    of_messages = {
        name: partial(rewrite_messages, rewrites[name]) for name in streams if name in rewrites
    }
    return {**rewrites, **of_messages}


def _goes_on(start: Message) -> bool:
    """Whether it is a stream, of which nobody knows how long it will be."""
    names = [name for name, _ in start["headers"]]
    is_stream = (b"content-type", EVENT_STREAM.encode()) in start["headers"]
    return is_stream and b"content-length" not in names


def _changed(receive: Receive, most: int, change: Callable[[bytes], Awaitable[bytes]]) -> Receive:
    """A body of at most so many bytes as a whole, changed; a longer one as it comes."""

    async def whole() -> Message:
        chunks: list[bytes] = []
        size = 0
        while True:
            message: Mapping[str, Any] = await receive()
            if message["type"] != "http.request":
                return dict(message)
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > most:
                return {"type": "http.request", "body": b"".join(chunks), "more_body": True}
            if not message.get("more_body"):
                return {"type": "http.request", "body": await change(b"".join(chunks))}

    return whole
