"""Connections to PostgreSQL, all with the same settings."""

from typing import TypeAlias

import asyncpg
from asyncpg import Record
from asyncpg.pool import PoolConnectionProxy

Pool: TypeAlias = "asyncpg.Pool[Record]"
Connection: TypeAlias = "PoolConnectionProxy[Record]"
DedicatedConnection: TypeAlias = "asyncpg.Connection[Record]"

_SERVER_SETTINGS = {"application_name": "roost", "timezone": "UTC", "jit": "off"}
_CONNECT_SECONDS = 10.0


async def connect(dsn: str) -> DedicatedConnection:
    """One connection outside every pool; the caller closes it."""
    return await asyncpg.connect(dsn, server_settings=_SERVER_SETTINGS, timeout=_CONNECT_SECONDS)


async def create_pool(dsn: str, size: int) -> Pool:
    """At most `size` connections; one is open when this returns.

    A connection comes back without a round trip to the server. So no caller may leave state in
    its session: only `set local`, advisory locks of a transaction, no `listen`.
    """
    return await asyncpg.create_pool(
        dsn,
        min_size=1,
        max_size=size,
        reset=_keep_session,
        server_settings=_SERVER_SETTINGS,
        timeout=_CONNECT_SECONDS,
    )


async def _keep_session(_connection: DedicatedConnection) -> None:
    """In place of the reset query. asyncpg itself still rolls back an open transaction."""
