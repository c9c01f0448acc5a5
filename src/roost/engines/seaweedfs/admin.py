"""What is told to the gateway of a server of our own, at the socket in its folder."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pydantic import JsonValue

from roost.core.engine import EngineError
from roost.resources.object_storage.engine import NotEmptyError, TakenError
from roost.sockets import short_name

if TYPE_CHECKING:
    import aiohttp

Json: TypeAlias = dict[str, JsonValue]

_SECONDS = 110.0


class Admin:
    """Each call has a connection of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def call(self, action: str, **sent: JsonValue) -> Json:
        """Raises EngineError, NotEmptyError of a bucket that holds something, TakenError."""
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        try:
            async with (
                self._session(timeout) as session,
                session.post(f"http://gateway/{action}", json=sent) as answer,
            ):
                status, body = answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EngineError("The object storage does not answer") from error
        if status == 409:
            raise NotEmptyError("The bucket is not empty")
        if status == 410:
            raise TakenError("The object storage has another bucket of this name")
        if status != 200:
            raise EngineError("The object storage does not do what it is told")
        found: Json = json.loads(body)
        return found

    async def lines(self, action: str) -> AsyncGenerator[Json, None]:
        """The lines of an answer that goes on. Raises EngineError when it ends."""
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=None)
        try:
            async with (
                self._session(timeout) as session,
                session.post(f"http://gateway/{action}", json={}) as answer,
            ):
                async for line in answer.content:
                    found: Json = json.loads(line)
                    yield found
        except (aiohttp.ClientError, OSError) as error:
            raise EngineError("The object storage tells no more of new buckets") from error

    @asynccontextmanager
    async def _session(
        self, patience: "aiohttp.ClientTimeout"
    ) -> AsyncIterator["aiohttp.ClientSession"]:
        """Raises OSError where nobody has ever listened."""
        import aiohttp

        with short_name(self._socket.parent, self._socket.name) as name:
            connector = aiohttp.UnixConnector(name)
            async with aiohttp.ClientSession(connector=connector, timeout=patience) as session:
                yield session
