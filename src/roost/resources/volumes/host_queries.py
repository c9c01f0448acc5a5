"""SQL of volumes on hosts."""

from roost.core.hosts.holdings import Held
from roost.store import Queries
from roost.store.query import query


async def by_host(db: Queries) -> dict[str, Held]:
    """What hosts have, of those that have any."""
    rows = await db.fetch(
        "select host, count(*) as count, sum(size)::bigint * 1024 as storage from volume group by 1"
    )
    return {row["host"]: Held(row["count"], row["storage"]) for row in rows}


async def regions_of(db: Queries, host: str) -> list[str]:
    """The regions of the volumes that a host has."""
    sql = "select distinct region from volume where host = $1"
    return [row["region"] for row in await db.fetch(sql, host)]


@query("""
    with given as (update volume set host = $2 where host = $1 returning 1)
    select count(*) from given
    """)
async def give(db: Queries, host: str, other: str) -> int:
    """All volumes of a host are another one's; how many."""
