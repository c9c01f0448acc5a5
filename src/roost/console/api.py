"""The API as the console calls it: in this process, as the user who is logged in.

Nothing is taken past it: rights, limits, events and explanations are those of every caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote, urlencode

import orjson
from pydantic import JsonValue
from starlette.types import ASGIApp, Message, Scope

from roost.errors import ErrorItem
from roost.web.headers import REVISION
from roost.web.registry import Endpoint
from roost.web.routing import Params, path_params

Json = Mapping[str, JsonValue]
_FORWARDED = ("http_version", "scheme", "server", "client", "asgi")


@dataclass(frozen=True)
class Answer:
    """Of an operation."""

    operation: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        return self.status < 400

    @cached_property
    def value(self) -> JsonValue:
        """What JSON it is; None where it is none."""
        if not self.body or "json" not in self.headers.get("content-type", ""):
            return None
        value: JsonValue = orjson.loads(self.body)
        return value

    @property
    def record(self) -> Json:
        """The object that it is; empty where it is refused, or none."""
        value = self.value
        return value if self.ok and isinstance(value, dict) else {}

    @property
    def rows(self) -> list[Json]:
        """Of a list; empty where it is refused."""
        value = self.value if self.ok else None
        rows = value.get("data", []) if isinstance(value, dict) else value
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    @property
    def problems(self) -> list[ErrorItem]:
        value = self.value
        found = value.get("errors") if isinstance(value, dict) and not self.ok else None
        if not isinstance(found, list):
            return [] if self.ok else [{"reason": f"The answer was {self.status}"}]
        return [_item(each) for each in found if isinstance(each, dict)]

    @property
    def request_id(self) -> str:
        return self.headers.get("x-request-id", "")


def _item(problem: Json) -> ErrorItem:
    item: ErrorItem = {"reason": str(problem.get("reason", ""))}
    if problem.get("field") is not None:
        item["field"] = str(problem["field"])
    return item


def path_of(endpoint: Endpoint, params: Params) -> str:
    """Below `/v4`, quoted; KeyError for a parameter that is not there."""
    path = endpoint.path
    for name, kind in path_params(path).items():
        value = quote(str(params[name]), safe="/" if kind == "path" else "")
        suffix = "" if kind == "str" else f":{kind}"
        path = path.replace(f"{{{name}{suffix}}}", value)
    return path


@dataclass(frozen=True, slots=True)
class Api:
    """For one request of a browser."""

    app: ASGIApp
    token: str
    around: Scope
    """The browser's request: calls have its address, scheme and host."""

    async def call(
        self,
        endpoint: Endpoint,
        params: Params,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        content_type: str = "application/json",
        wanted: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """`wanted` is an X-Filter, `key` an Idempotency-Key."""
        headers = [
            (b"authorization", f"Bearer {self.token}".encode()),
            # A session may be older than the release that makes this page.
            (b"roost-revision", REVISION.encode()),
        ]
        headers += [pair for pair in self.around["headers"] if pair[0] == b"host"]
        if body:
            headers.append((b"content-type", content_type.encode("latin-1", "replace")))
        if wanted is not None:
            headers.append((b"x-filter", wanted.encode()))
        if key is not None and endpoint.method == "POST":
            headers.append((b"idempotency-key", key.encode()))
        path = "/v4" + path_of(endpoint, params)
        scope: Scope = {
            **{key: self.around[key] for key in _FORWARDED if key in self.around},
            "type": "http",
            "method": endpoint.method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": urlencode(query or {}).encode(),
            "headers": headers,
        }
        return await _exchange(self.app, endpoint.name, scope, body)


async def _exchange(app: ASGIApp, operation: str, scope: Scope, body: bytes) -> Answer:
    status, headers, parts = 500, dict[str, str](), list[bytes]()

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update(
                (k.decode("latin-1"), v.decode("latin-1")) for k, v in message["headers"]
            )
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return Answer(operation, status, headers, b"".join(parts))
