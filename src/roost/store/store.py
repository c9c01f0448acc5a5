"""The one way to the database for everything above."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from asyncpg import QueryCanceledError, Record

from roost.settings import Settings
from roost.store.embedded import EmbeddedServer
from roost.store.listener import Callback, Listener
from roost.store.pool import Connection, Pool, create_pool
from roost.store.queries import notify

_CLOSE_SECONDS = 3.0


class Store:
    """A pool of connections, a listener and, unless the operator names a server, our own one.

    Each of `fetch`, `fetchrow`, `fetchval` and `execute` is a transaction of its own.
    """

    def __init__(self, dsn: str, pool: Pool, server: EmbeddedServer | None) -> None:
        self.dsn = dsn
        self.pool = pool
        self._server = server
        self._listener = Listener(dsn)

    @classmethod
    async def open(cls, settings: Settings) -> "Store":
        """Raises ClusterError, OSError or an error of asyncpg when there is no database."""
        if settings.database_url is not None:
            pool = await create_pool(settings.database_url, settings.database_connections)
            return cls(settings.database_url, pool, None)
        server = EmbeddedServer(settings.state)
        await server.start()
        try:
            pool = await create_pool(server.dsn, settings.database_connections)
        except BaseException:
            await server.stop()
            raise
        return cls(server.dsn, pool, server)

    async def close(self) -> None:
        """Wait 3 seconds for queries that run, then stop our own server."""
        await self._listener.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.pool.close(), _CLOSE_SECONDS)
        if self._server is not None:
            await self._server.stop()

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A READ COMMITTED transaction: commits at the end, rolls back on an exception."""
        async with (
            self.pool.acquire() as connection,
            connection.transaction(isolation="read_committed"),
        ):
            yield connection

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
