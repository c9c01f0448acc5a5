"""Holds the API's requests back while the lab replaces what they work on."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

_PATIENCE = 5.0
"""Seconds that requests have to end in; a slower one meets the locks of the tables."""


class Gate:
    """An ASGI application that lets requests through to another one, or makes them wait."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = asyncio.Event()
        self._open.set()
        self._inside = 0
        self._left = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._open.wait()
        self._inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._inside -= 1
            self._left.set()

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
