"""A connection of asyncpg's with a short way to statements that it has prepared before."""

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
from asyncpg import InvalidCachedStatementError, OutdatedSchemaCacheError, Record

if TYPE_CHECKING:
    _Connection: TypeAlias = asyncpg.Connection[Record]
else:
    _Connection = asyncpg.Connection


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", 4 + len(body)) + body


_BEGIN = (
    _message(b"P", b"\0begin isolation level read committed\0" + struct.pack("!h", 0))
    + _message(b"B", b"\0\0" + struct.pack("!hhh", 0, 0, 0))
    + _message(b"E", b"\0" + struct.pack("!i", 0))
)
"""Parse, Bind and Execute of PostgreSQL's protocol (its documentation, Message Formats), without
the Sync that would have it answer at once."""


class Connection(_Connection):
    """asyncpg goes to each statement through five coroutines, which look for loggers, timeouts and
    classes of records, and take a third of the CPU time of its round trip.
    """

    __slots__ = ()

    # asyncpg's own, which its stubs leave out.
    _protocol: Any
    _query_loggers: Any
    _stmt_cache: Any
    _transport: Any

    def begin(self) -> None:
        """Begin a READ COMMITTED transaction with the next statement, whatever that is, in the
        same round trip. What the server says of it asyncpg overlooks in the answer."""
        self._transport.write(_BEGIN)

    async def _execute(
        self,
        query: str,
        args: Sequence[object],
        limit: int,
        timeout: float | None,  # noqa: ASYNC109
        *,
        return_status: bool = False,
        **others: Any,
    ) -> Any:
        """What `fetch`, `fetchrow`, `fetchval` and `execute` of asyncpg call."""
        statement = self._stmt_cache.get((query, Record, False))
        if statement is not None and not self._query_loggers:
            try:
                return await self._protocol.bind_execute(
                    statement, args, "", limit, return_status, timeout
                )
            except OutdatedSchemaCacheError:
                await self.reload_schema_state()
                raise
            except InvalidCachedStatementError:
                await self.reload_schema_state()
                if self.is_in_transaction():
                    raise
        return await super()._execute(  # type: ignore[misc]
            query, args, limit, timeout, return_status=return_status, **others
        )
