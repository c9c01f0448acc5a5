"""SQL of volumes on hosts."""

from roost.core.hosts.hosted import Hosted
from roost.store import Queries


async def regions_of(db: Queries, host: str) -> list[str]:
    """Of the volumes that a host has."""
    sql = "select distinct region from volume where host = $1"
    return [row["region"] for row in await db.fetch(sql, host)]


async def give(db: Queries, host: str, other: str) -> int:
    """All volumes of a host are another one's; how many."""
    count: int = await db.fetchval(
        """
        with given as (update volume set host = $2 where host = $1 returning 1)
        select count(*) from given
        """,
        host,
        other,
    )
    return count


VOLUMES = Hosted("volumes", give, regions_of)
