"""Connections to PostgreSQL, all with the same settings."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import TypeAlias

import asyncpg
from asyncpg import Record

Connection: TypeAlias = "asyncpg.Connection[Record]"

_SERVER_SETTINGS = {"application_name": "roost", "timezone": "UTC", "jit": "off"}
_POOL_SETTINGS = _SERVER_SETTINGS | {"statement_timeout": "30s"}
_CONNECT_SECONDS = 10.0
_WAIT_SECONDS = 10.0


async def connect(dsn: str, settings: Mapping[str, str] = _SERVER_SETTINGS) -> Connection:
    """One connection outside every pool; the caller closes it."""
    return await asyncpg.connect(dsn, server_settings=dict(settings), timeout=_CONNECT_SECONDS)


async def create_pool(dsn: str, size: int) -> "Pool":
    """At most `size` connections; one is open when this returns."""
    pool = Pool(dsn, size)
    async with pool.acquire():
        return pool


class Pool:
    """Connections that are opened when they are needed; the one used last is used next.

    asyncpg's own pool wraps connections and makes a task of each release, which is a quarter of
    a GET's CPU time. Here a connection comes back as it is, without a round trip to the server:
    no caller may leave state in its session, only `set local`, advisory locks of a transaction,
    no `listen`.
    """

    def __init__(self, dsn: str, size: int) -> None:
        self._dsn = dsn
        self._size = size
        self._places = asyncio.Semaphore(size)
        self._idle: list[Connection] = []
        self._used: set[Connection] = set()
        self._closed = False

    def acquire(self) -> "Lease":
        """A connection for an `async with`.

        asyncpg.InterfaceError when the pool is closed, TimeoutError when none becomes free.
        """
        return Lease(self)

    async def take(self) -> Connection:
        if self._places.locked():
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._places.acquire()
        else:
            await self._places.acquire()
        try:
            connection = await self._find()
        except BaseException:
            self._places.release()
            raise
        self._used.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """asyncpg itself waits for the end of a query that was cancelled before it sends more."""
        self._used.discard(connection)
        if connection.is_closed() or connection.is_in_transaction():
            connection.terminate()
        else:
            self._idle.append(connection)
        self._places.release()

    async def close(self) -> None:
        """Wait for connections that are used; when this is cancelled, end them."""
        self._closed = True
        try:
            for _ in range(self._size):
                await self._places.acquire()
            for connection in self._idle:
                await connection.close()
        finally:
            for connection in (*self._used, *self._idle):
                connection.terminate()
            # Whoever still waits for a connection is told that there is none.
            for _ in range(self._size):
                self._places.release()

    async def _find(self) -> Connection:
        if self._closed:
            raise asyncpg.InterfaceError("the pool is closed")
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await connect(self._dsn, _POOL_SETTINGS)


class Lease:
    """The use of a pool's connection."""

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Connection:
        self._connection = await self._pool.take()
        return self._connection

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.give_back(self._connection)
