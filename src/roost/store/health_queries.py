"""SQL of how the database is."""

from dataclasses import dataclass

from roost.store.queries import Queries


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The PostgreSQL and this database in it."""

    size: int
    """Bytes"""
    connections: int
    """Of all who use the server."""
    most_connections: int
    transaction: float
    """Seconds that the longest transaction of ours has gone on for."""


async def look(db: Queries) -> ServerHealth:
    """Reads no table, so that it takes the same time for any cloud."""
    row = await db.fetchrow(
        """
        select pg_database_size(current_database()) as size,
            (select count(*) from pg_stat_activity where backend_type = 'client backend')
                as connections,
            current_setting('max_connections')::int as most_connections,
            coalesce((
                select extract(epoch from clock_timestamp() - min(xact_start))
                from pg_stat_activity where datname = current_database()
            ), 0)::float8 as transaction
        """
    )
    assert row is not None
    return ServerHealth(**row)
