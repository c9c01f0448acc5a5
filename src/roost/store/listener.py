"""LISTEN on a connection of its own, which comes back when the server does."""

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from roost.store.connection import Connection
from roost.store.pool import FAULTS, connect

Callback = Callable[[str], None]

_log = structlog.get_logger(__name__)

_RETRY_SECONDS = 0.2
_HEARTBEAT_SECONDS = 30.0


class Listener:
    """Calls back with the payload of each notification.

    Notifications are lost while the connection is; so after each reconnection every callback is
    called once with an empty payload, as if everything had changed.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._callbacks: dict[str, list[Callback]] = {}
        self._connection: Connection | None = None
        self._lost = asyncio.Event()
        # A connection runs one command at a time.
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def add(self, channel: str, callback: Callback) -> None:
        """Listen from now on. Raises the error of asyncpg when no connection can be made."""
        async with self._lock:
            self._callbacks.setdefault(channel, []).append(callback)
            if self._task is None:
                await self._connect()
                self._task = asyncio.create_task(self._run())
            elif self._connection is not None:
                await self._connection.add_listener(channel, self._dispatch)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        if self._connection is not None:
            with contextlib.suppress(*FAULTS):
                await self._connection.close(timeout=1)
            self._connection = None

    async def _connect(self) -> None:
        connection = await connect(self._dsn)
        self._lost = asyncio.Event()
        lost = self._lost
        connection.add_termination_listener(lambda _connection: lost.set())
        for channel in self._callbacks:
            await connection.add_listener(channel, self._dispatch)
        self._connection = connection

    async def _run(self) -> None:
        while True:
            await self._until_lost()
            self._connection = None
            await self._reconnect()
            for callbacks in self._callbacks.values():
                for callback in callbacks:
                    callback("")

    async def _until_lost(self) -> None:
        """A silent network gives no sign of a dead server, hence the heartbeat."""
        while not self._lost.is_set():
            try:
                async with asyncio.timeout(_HEARTBEAT_SECONDS):
                    await self._lost.wait()
            except TimeoutError:
                await self._heartbeat()

    async def _heartbeat(self) -> None:
        connection = self._connection
        if connection is None:
            return
        try:
            async with self._lock:
                await connection.execute("select 1", timeout=_HEARTBEAT_SECONDS)
        except FAULTS:
            connection.terminate()
            self._lost.set()

    async def _reconnect(self) -> None:
        while True:
            try:
                async with self._lock:
                    await self._connect()
            except FAULTS as error:
                _log.warning("listener_disconnected", error=str(error))
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return

    def _dispatch(self, _connection: object, _pid: int, channel: str, payload: object) -> None:
        for callback in self._callbacks[channel]:
            callback(str(payload))
