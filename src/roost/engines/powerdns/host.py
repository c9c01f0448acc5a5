"""The host of a server of our own: keeps it alive."""

import asyncio
import contextlib
import time
from contextlib import AbstractAsyncContextManager

import structlog

from roost.core.engine import EngineError
from roost.engines.listeners import Listener
from roost.engines.powerdns.api import Place
from roost.engines.powerdns.server import LocalServer

_log = structlog.get_logger(__name__)

_WATCH_SECONDS = 0.5
_SHORTEST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0
_STABLE_SECONDS = 10.0


class LocalHost:
    """Starts a server, or adopts the one that runs, and starts it again whenever it dies.

    Any number of processes may do so for the same server.
    """

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._task: asyncio.Task[None] | None = None
        self._first_launches = 0

    @property
    def restarts(self) -> int:
        return self._server.launches - self._first_launches

    @property
    def listeners(self) -> tuple[Listener, ...]:
        return self._server.folder.listeners

    async def ensure(self) -> Place:
        return await self._server.ensure()

    def changing(self) -> AbstractAsyncContextManager[None]:
        return self._server.folder.changing()

    async def start(self) -> None:
        """Returns when the server answers. Raises EngineError."""
        await self._server.renew()
        self._first_launches = self._server.launches
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        await self.release()
        await self._server.stop()

    async def release(self) -> None:
        """Leaves the server running."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _keep(self) -> None:
        pause, started = 0.0, time.monotonic()
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            self._server.folder.trim_log()
            if self._server.process() is not None:
                continue
            pause = 0.0 if time.monotonic() - started > _STABLE_SECONDS else _longer(pause)
            _log.warning("name server is gone", starting_again_in=pause)
            await asyncio.sleep(pause)
            started = time.monotonic()
            with contextlib.suppress(EngineError):
                await self._server.ensure()


def _longer(pause: float) -> float:
    return min(_LONGEST_PAUSE_SECONDS, max(_SHORTEST_PAUSE_SECONDS, pause * 2))
