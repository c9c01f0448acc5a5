"""Connections to PostgreSQL, all with the same settings."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

import asyncpg
import structlog

from roost.store.connection import Connection

FAULTS = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # Of a connection that was cut while it was used.
)
"""What is raised when the database does not answer, or refuses."""

_SERVER_SETTINGS = {"application_name": "roost", "timezone": "UTC", "jit": "off"}
_PROBES = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_sort": "off",
    "plan_cache_mode": "force_generic_plan",
}
_VOLATILE = {"synchronous_commit": "off"}
_CONNECT_SECONDS = 10.0
_END_SECONDS = 5.0

_log = structlog.get_logger(__name__)
_MEND_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Share:
    """Connections that nobody else can use up, and for how long they may be used: in seconds."""

    connections: int
    statement: float = 60.0
    """The longest that a statement may take, with its wait for locks."""
    idle: float = 60.0
    """The longest pause within a transaction."""
    wait: float = 10.0
    """The longest wait for a connection that is free."""
    probes: bool = False
    """Whether its statements look up few rows by indexes. PostgreSQL would read whole tables where
    it has not yet seen them grow."""
    durable: bool = True
    """Whether a commit waits for the disk. What does not may be forgotten when PostgreSQL crashes
    within the next second, unless a later durable commit has come through."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What each connection is opened with."""
        return (
            _SERVER_SETTINGS
            | (_PROBES if self.probes else {})
            | ({} if self.durable else _VOLATILE)
            | {
                "statement_timeout": f"{self.statement * 1000:.0f}",
                "idle_in_transaction_session_timeout": f"{self.idle * 1000:.0f}",
            }
        )


async def connect(dsn: str, settings: Mapping[str, str] = _SERVER_SETTINGS) -> Connection:
    """One connection outside every pool; the caller closes it."""
    return await asyncpg.connect(
        dsn,
        server_settings=dict(settings),
        timeout=_CONNECT_SECONDS,
        connection_class=Connection,
    )


class Pool:
    """The connections of a share, opened when they are needed; the one used last is used next.

    asyncpg's own pool wraps connections and makes a task of each release, which is a quarter of
    a GET's CPU time. Here a connection comes back as it is, without a round trip to the server:
    no caller may leave state in its session, only `set local`, advisory locks of a transaction,
    no `listen`.
    """

    def __init__(self, dsn: str, share: Share) -> None:
        self._dsn = dsn
        self._share = share
        self._places = asyncio.Semaphore(share.connections)
        self._idle: list[Connection] = []
        self._used: set[Connection] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def used(self) -> int:
        """Connections that somebody has at this moment."""
        return len(self._used)

    @property
    def size(self) -> int:
        """Connections that there may be."""
        return self._share.connections

    def acquire(self) -> "Lease":
        """A connection for an `async with`.

        asyncpg.InterfaceError when the pool is closed, TimeoutError when none becomes free.
        """
        return Lease(self)

    async def take(self) -> Connection:
        if self._places.locked():
            async with asyncio.timeout(self._share.wait):
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

    def give_back(self, connection: Connection, *, cancelled: bool = False) -> None:
        """After a use that was `cancelled` another connection takes its place."""
        if cancelled and not connection.is_closed():
            ending = asyncio.create_task(self._end(connection))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        else:
            self._put_back(connection)

    def _put_back(self, connection: Connection) -> None:
        self._used.discard(connection)
        if connection.is_closed() or connection.is_in_transaction():
            connection.terminate()
        else:
            self._idle.append(connection)
        self._places.release()

    async def _end(self, connection: Connection) -> None:
        """A cancelled `begin` may have begun a transaction after all, in which the next user's
        writes would be lost. Before asyncpg sends anything, the server has ended the statement."""
        try:
            await connection.execute("rollback", timeout=_END_SECONDS)
        except FAULTS as error:
            _log.warning("connection_ended", error=repr(error))
        finally:
            connection.terminate()
            self._put_back(connection)

    async def close(self) -> None:
        """Wait for connections that are used; when this is cancelled, end them."""
        self._closed = True
        try:
            for _ in range(self._share.connections):
                await self._places.acquire()
            for connection in self._idle:
                await connection.close()
        finally:
            for connection in (*self._used, *self._idle):
                connection.terminate()
            # Whoever still waits for a connection is told that there is none.
            for _ in range(self._share.connections):
                self._places.release()

    async def _find(self) -> Connection:
        if self._closed:
            raise asyncpg.InterfaceError("the pool is closed")
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await connect(self._dsn, self._share.settings)


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
        self._pool.give_back(self._connection, cancelled=isinstance(error, asyncio.CancelledError))


class Transaction:
    """The use of a pool's connection in a READ COMMITTED transaction: commits at the end, rolls
    back on an exception.

    There is none within another. asyncpg's own, which can do that, costs as much as a round trip.
    """

    __slots__ = ("_connection", "_lease")

    def __init__(self, pool: Pool) -> None:
        self._lease = Lease(pool)

    async def __aenter__(self) -> Connection:
        connection = self._connection = await self._lease.__aenter__()
        connection.begin()
        return connection

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._connection.execute("commit" if kind is None else "rollback")
        except BaseException as failure:
            kind, error = type(failure), failure
            raise
        finally:
            await self._lease.__aexit__(kind, error, trace)
