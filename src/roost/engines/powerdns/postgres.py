"""The tables of PowerDNS in a PostgreSQL database."""

from pathlib import Path

import asyncpg

from roost.threads import DISK

SCHEMA = Path("/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql")
_LOCK = 0x70646E73
"""Of the servers that share the database only one makes the tables."""
_CONTENT = """
    select data_type from information_schema.columns
    where table_schema = current_schema() and table_name = 'records' and column_name = 'content'
"""
"""A text of 65,000 bytes is longer than the schema provides for, as it is quoted."""
_PATIENCE_SECONDS = 10.0


async def ensure_tables(url: str) -> None:
    """Make them where there are none.

    Raises OSError, with no word of the URL, when the database cannot be used.
    """
    schema = await DISK.run(SCHEMA.read_text)
    try:
        connection = await asyncpg.connect(url, timeout=_PATIENCE_SECONDS)
        try:
            async with connection.transaction():
                await connection.execute(f"select pg_advisory_xact_lock({_LOCK})")
                if await connection.fetchval("select to_regclass('domains')") is None:
                    await connection.execute(schema)
                if await connection.fetchval(_CONTENT) != "text":
                    await connection.execute("alter table records alter content type text")
        finally:
            await connection.close()
    except (asyncpg.PostgresError, asyncpg.InterfaceError, ValueError, TimeoutError) as error:
        raise OSError(f"the database cannot be used: {type(error).__name__}") from None
