"""Holds the API's requests back while the lab replaces what they work on."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

_PATIENCE = 5.0
"""Seconds that requests have to end in; a slower one meets the locks of the tables."""


class Gate:
    """Lets requests through to applications, or makes them wait."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._inside = 0
        self._left = asyncio.Event()

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application behind this gate."""

        async def gated(scope: Scope, receive: Receive, send: Send) -> None:
            await self._open.wait()
            self._inside += 1
            try:
                await app(scope, receive, send)
            finally:
                self._inside -= 1
                self._left.set()

        return gated

    @asynccontextmanager
    async def shut(self) -> AsyncIterator[None]:
        """Requests that have begun end first; new ones go on after the block."""
        self._open.clear()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await self._empty()
            yield
        finally:
            self._open.set()

    async def _empty(self) -> None:
        while self._inside:
            self._left.clear()
            await self._left.wait()
