"""What a function with SQL needs: a store, or one connection inside a transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from asyncpg import Record


class Queries(Protocol):
    """Runs parameterised SQL. Values have the types of asyncpg; json and jsonb are `str`."""

    async def fetch(self, query: str, /, *args: object) -> list[Record]: ...

    async def fetchrow(
        self,
        query: str,
        /,
        *args: object,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Record | None:
        """The first row. After `timeout` seconds: asyncpg.QueryCanceledError or TimeoutError."""
        ...

    # A value has the type of its column, which only the SQL knows.
    async def fetchval(self, query: str, /, *args: object) -> Any: ...

    async def execute(self, query: str, /, *args: object) -> str:
        """The server's answer, for example `UPDATE 1`."""
        ...

    async def copy_records_to_table(
        self, table_name: str, /, *, columns: Sequence[str], records: Iterable[Sequence[object]]
    ) -> str:
        """Insert thousands of rows in half the time."""
        ...


async def notify(db: Queries, channel: str, payload: str = "") -> None:
    """Wake the listeners of `channel`; inside a transaction, when and only if it commits.

    `payload` is less than 8000 bytes.
    """
    await db.execute("select pg_notify($1, $2)", channel, payload)
