"""Calls of the HTTP API of PowerDNS, their failures in words for the zone's owner."""

import asyncio
import random
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import aiohttp
import orjson
import structlog
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from roost.core.engine import EngineError
from roost.resources.domains.engine import RejectedError

_log = structlog.get_logger(__name__)

_TIMEOUT = aiohttp.ClientTimeout(total=60, sock_connect=5)
_TRIES = 8
_PAUSE_SECONDS = 0.05
_CONNECTIONS = 16

_CONTENT = ("DNS Name ", "Duplicate ", "Name ", "Record ", "RRset ", "Unable to parse DNS Name ")
"""How refusals begin that will come again for the same content."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the API is, and what opens it."""

    url: str
    key: str


class Server(Protocol):
    """Whose API is called."""

    async def ensure(self) -> Place:
        """The API of a server that runs. Raises EngineError when there is none."""

    def changing(self) -> AbstractAsyncContextManager[None]:
        """Held by each change; only for a server that runs, or ran."""


class MissingError(EngineError):
    """The server has no such zone."""


class ConflictError(EngineError):
    """The server has such a zone already."""


class _Refusal(TypedDict):
    error: str


_REFUSAL = TypeAdapter(_Refusal)


class Api:
    """A client whose calls may be repeated: a server that dies in the middle is asked again."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session: aiohttp.ClientSession | None = None

    async def read(self, path: str) -> bytes:
        """GET. `path` is relative to the server's. Raises MissingError or EngineError."""
        return await self._call("GET", path, None)

    async def change(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> bytes:
        """Raises MissingError, ConflictError, RejectedError or EngineError."""
        sent = None if body is None else orjson.dumps(body)
        await self._server.ensure()
        async with self._server.changing():
            return await self._call(method, path, sent)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _call(self, method: str, path: str, body: bytes | None) -> bytes:
        """SQLite answers 500 when two want to write, and a server that was killed nothing."""
        for left in reversed(range(_TRIES)):
            place = await self._server.ensure()
            try:
                status, answer = await self._send(place, method, path, body)
            except (aiohttp.ClientError, TimeoutError) as error:
                status, answer = 503, type(error).__name__.encode()
            if status < 500:
                return _understood(method, path, status, answer)
            if left:
                await asyncio.sleep(_PAUSE_SECONDS * (_TRIES - left) * random.uniform(0.5, 1.5))
        _log.warning("name server fault", method=method, path=path, status=status)
        if status == 503:
            raise EngineError("The name server does not answer")
        raise EngineError("The name server failed; the operator finds the reason in its log")

    async def _send(
        self, place: Place, method: str, path: str, body: bytes | None
    ) -> tuple[int, bytes]:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=_CONNECTIONS)
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT, connector=connector)
        url = f"{place.url}/api/v1/servers/localhost{path}"
        headers = {"X-API-Key": place.key, "Content-Type": "application/json"}
        async with self._session.request(method, url, data=body, headers=headers) as answer:
            return answer.status, await answer.read()


def _understood(method: str, path: str, status: int, answer: bytes) -> bytes:
    if status < 400:
        return answer
    if status == 404:
        raise MissingError("The name server does not hold the zone")
    if status == 409:
        raise ConflictError("The name server holds the zone already")
    if status == 401:
        raise EngineError("The name server does not accept the API key")
    reason = _reason(answer)
    _log.warning("name server refusal", method=method, path=path, status=status, reason=reason)
    kind = RejectedError if reason.startswith(_CONTENT) else EngineError
    raise kind(f"The name server refuses the zone: {reason}")


def _reason(answer: bytes) -> str:
    try:
        return _REFUSAL.validate_json(answer)["error"]
    except ValidationError:
        return "it gives no reason"
