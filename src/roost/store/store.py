"""The one way to the database for everything above."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from asyncpg import (
    DeadlockDetectedError,
    QueryCanceledError,
    Record,
    SerializationError,
)

from roost.settings import Settings
from roost.store.connection import Connection
from roost.store.embedded import EmbeddedServer
from roost.store.listener import Callback, Listener
from roost.store.pool import Pool, Share, Transaction
from roost.store.queries import notify
from roost.store.template import prepared

_CLOSE_SECONDS = 1.0
_PAUSE = (0.01, 0.05)
"""Seconds before a transaction that was ended for the sake of others is tried again."""

_RESERVED = Share(connections=6, statement=10.0, idle=10.0, wait=2.0, probes=True, durable=False)
"""A claim, a heartbeat, upkeep, a sign of life, a health check and a look for changed tokens at the
same time. A claim that PostgreSQL forgets is made again, as that of a worker which was killed."""

T = TypeVar("T")


class _TakenBackError(Exception):
    """Ends a transaction that was only tried."""


class Store:
    """A pool of connections, a listener and, unless the operator names a server, our own one.

    Each of `fetch`, `fetchrow`, `fetchval` and `execute` is a transaction of its own.
    """

    def __init__(self, dsn: str, pool: Pool, listener: Listener) -> None:
        self.dsn = dsn
        self.pool = pool
        self._listener = listener
        self._server: EmbeddedServer | None = None
        self._shares: list[Pool] = []
        self.reserved: Store = self
        """The store of what keeps a process alive: claims, leases, health checks. Neither
        requests nor jobs can use up its connections."""

    @classmethod
    async def open(cls, settings: Settings) -> "Store":
        """With the connections of jobs and of all that is not a request.

        Raises ClusterError, OSError or an error of asyncpg when there is no database.
        """
        server = None
        if not settings.database_url:
            server = EmbeddedServer(settings.state, prepared=prepared)
            await server.start()
        dsn = settings.database_url if server is None else server.dsn
        assert dsn is not None
        store = cls(dsn, Pool(dsn, Share(settings.job_connections)), Listener(dsn))
        store._server = server
        store.reserved = store.share(_RESERVED)
        try:
            async with store.pool.acquire():
                return store
        except BaseException:
            await store.close()
            raise

    def share(self, share: Share) -> "Store":
        """Another store of this database with its own connections; they end with this store's."""
        pool = Pool(self.dsn, share)
        self._shares.append(pool)
        store = Store(self.dsn, pool, self._listener)
        store.reserved = self.reserved
        return store

    async def close(self) -> None:
        """Wait a second for queries that run, then stop our own server."""
        await self._listener.close()
        pools = (self.pool, *self._shares)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.gather(*(pool.close() for pool in pools))
        if self._server is not None:
            await self._server.stop()

    async def commit(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do `work` in a transaction and commit it.

        Once more from the beginning when PostgreSQL ends it because of others, by a deadlock or
        a serialization fault: `work` does nothing outside of its transaction.
        """
        try:
            async with self.transaction() as connection:
                return await work(connection)
        except (DeadlockDetectedError, SerializationError):
            # The others go first, or both would meet again.
            await asyncio.sleep(random.uniform(*_PAUSE))
            async with self.transaction() as connection:
                return await work(connection)

    async def rehearse(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do `work` with all checks that a commit makes, and take everything back."""
        results: list[T] = []

        async def take_back(connection: Connection) -> None:
            result = await work(connection)
            await connection.execute("set constraints all immediate")
            results.append(result)
            raise _TakenBackError

        with contextlib.suppress(_TakenBackError):
            await self.commit(take_back)
        return results[-1]

    def transaction(self) -> Transaction:
        """A READ COMMITTED transaction, for an `async with`: commits at the end, rolls back on an
        exception."""
        return Transaction(self.pool)

    async def fetch(self, query: str, /, *args: object) -> list[Record]:
        async with self.pool.acquire() as connection:
            return await connection.fetch(query, *args)

    async def fetchrow(
        self,
        query: str,
        /,
        *args: object,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Record | None:
        """After `timeout` seconds, without those of waiting for a connection, the query is ended:
        asyncpg.QueryCanceledError."""
        async with self.pool.acquire() as connection:
            try:
                return await connection.fetchrow(query, *args, timeout=timeout)
            except TimeoutError:
                raise QueryCanceledError(f"took more than {timeout} seconds") from None

    async def fetchval(self, query: str, /, *args: object) -> Any:
        async with self.pool.acquire() as connection:
            return await connection.fetchval(query, *args)

    async def execute(self, query: str, /, *args: object) -> str:
        async with self.pool.acquire() as connection:
            return await connection.execute(query, *args)

    async def copy_records_to_table(
        self, table_name: str, /, *, columns: Sequence[str], records: Iterable[Sequence[object]]
    ) -> str:
        async with self.pool.acquire() as connection:
            return await connection.copy_records_to_table(
                table_name, columns=columns, records=records
            )

    async def listen(self, channel: str, callback: Callback) -> None:
        """Call back with each payload, and with "" when notifications may have been missed."""
        await self._listener.add(channel, callback)

    async def notify(self, channel: str, payload: str = "") -> None:
        await notify(self, channel, payload)
