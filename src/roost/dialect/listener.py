"""The ASGI application in front of all others that translates, both ways."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roost.dialect import paths
from roost.dialect.answers import Rewrite, compile_answers, say_error
from roost.dialect.known import KnownAnswers
from roost.dialect.requests import back_path, translate_body, translate_filter
from roost.dialect.table import Dialect
from roost.dialect.texts import exchange_scopes, say
from roost.web.docs import DOCUMENT_PATHS
from roost.web.registry import Registry
from roost.web.reply import Header

_VERSIONS = ("/v4beta", "/v4")
_LOGIN = ("/login", "/logout", "/oauth/", "/.well-known/")
"""Where people and OAuth clients are."""
_FORM = b"application/x-www-form-urlencoded"
_READ = (b"text/html", b"application/json")
"""Media types in which people and OAuth clients are answered."""
_SCOPES = (b"x-oauth-scopes", b"x-accepted-oauth-scopes")


class Listener:
    """Another application, in the words of a dialect."""

    def __init__(self, dialect: Dialect, registry: Registry, app: ASGIApp, max_body: int) -> None:
        self._dialect = dialect
        self._registry = registry
        self._app = app
        self._max_body = max_body
        # Few are different, and most answers have the same.
        self._said_scopes = lru_cache(1000)(partial(exchange_scopes, dialect))
        self._rewrites: Mapping[str, Rewrite] = compile_answers(dialect, registry)
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
        # HEAD is answered as GET, so that the length is that of the translated body.
        head = scope["method"] == "HEAD"
        method = "GET" if head else scope["method"]
        plain = path.rstrip("/")
        match = self._registry.router.find(plain)
        endpoint = None if match is None else match.methods.get(method)
        inner = {**scope, "path": version + path, "method": method}
        if any(name == b"x-filter" for name, _ in scope["headers"]):
            inner["headers"] = [self._header_back(header) for header in scope["headers"]]
        if endpoint is not None and endpoint.query:
            inner["query_string"] = self._query_back(scope["query_string"])
        if endpoint is not None and endpoint.body is not None:
            receive = self._json_back(receive, plain, endpoint.max_body or self._max_body)
        rewrite = None if endpoint is None else self._rewrites.get(endpoint.name)
        await self._app(inner, receive, self._answer(send, rewrite, head))

    def _header_back(self, header: Header) -> Header:
        name, value = header
        return (name, translate_filter(self._dialect, value)) if name == b"x-filter" else header

    def _query_back(self, query: bytes) -> bytes:
        fields = self._dialect.path_fields
        given = parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
        said = [
            (name, back_path(self._dialect, value) if name in fields else value)
            for name, value in given
        ]
        return query if said == given else urlencode(said).encode()

    def _json_back(self, receive: Receive, path: str, most: int) -> Receive:
        if path in self._dialect.opaque_paths:
            return receive
        return _changed(receive, most, lambda body: translate_body(self._dialect, path, body))

    def _answer(self, send: Send, rewrite: Rewrite | None, head: bool) -> Send:
        """Answers of the API come in two messages: the second has the whole body."""
        start: Message = {}

        async def translated(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body: bytes = message.get("body", b"")
            if start["status"] >= 400:
                body = say_error(self._dialect, body)
            elif rewrite is not None:
                body = self._known.rewritten(rewrite, body)
            headers = start["headers"]
            for at, (name, value) in enumerate(headers):
                if name == b"content-length":
                    headers[at] = name, b"%d" % len(body)
                elif name in _SCOPES:
                    headers[at] = name, self._said_scopes(value)
            await send(start)
            await send({**message, "body": b"" if head else body})

        return translated

    async def _call_login(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pages and endpoints where only scopes are named otherwise, and texts."""
        inner = {**scope, "query_string": exchange_scopes(self._dialect, scope["query_string"])}
        if dict(scope["headers"]).get(b"content-type", b"").startswith(_FORM):
            receive = _changed(
                receive, self._max_body, lambda body: exchange_scopes(self._dialect, body)
            )
        await self._app(inner, receive, self._page(send))

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


def _changed(receive: Receive, most: int, change: Rewrite) -> Receive:
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
                return {"type": "http.request", "body": change(b"".join(chunks))}

    return whole
