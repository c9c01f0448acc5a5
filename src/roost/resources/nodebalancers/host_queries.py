"""SQL of NodeBalancers on hosts."""

from roost.core.hosts.holdings import Held
from roost.store import Queries
from roost.store.query import query


async def by_host(db: Queries) -> dict[str, Held]:
    """What hosts have, of those that have any; what one has not dropped yet, both have."""
    rows = await db.fetch(
        "select h.host, count(*) as count from nodebalancer b"
        " cross join unnest(array[b.host, b.left_host]) as h (host)"
        " where h.host is not null group by 1"
    )
    return {row["host"]: Held(row["count"], 0) for row in rows}


async def regions_of(db: Queries, host: str) -> list[str]:
    """The regions of the NodeBalancers that a host has."""
    sql = "select distinct region from nodebalancer where host = $1"
    return [row["region"] for row in await db.fetch(sql, host)]


@query("select id from nodebalancer where host = $1 and not deleting order by id")
async def movable(db: Queries, host: str) -> list[int]:
    """Those of a host that can go to another one."""


@query("select id from nodebalancer where $1 in (host, left_host) order by id")
async def known_to(db: Queries, host: str) -> list[int]:
    """Those that a host has, or has not dropped yet."""


@query("select count(*) from nodebalancer where host = $1")
async def count_on(db: Queries, host: str) -> int:
    """How many a host has, also of those that are being deleted."""


@query("""
    select j.id from job j join nodebalancer b on j.resource = 'nodebalancer:' || b.id
    where b.host = $1 and j.kind = 'nodebalancer_move' and j.finished is null order by j.id
    """)
async def moves_to(db: Queries, host: str) -> list[int]:
    """Jobs that bring NodeBalancers to a host."""


@query("""
    with forgotten as (delete from nodebalancer_reading where host = $1),
    cleared as (update nodebalancer set left_host = null where left_host = $1),
    given as (
        update nodebalancer set host = $2, left_host = nullif(left_host, $2)
        where host = $1 returning 1)
    select count(*) from given
    """)
async def give(db: Queries, host: str, other: str) -> int:
    """All NodeBalancers of a host are another one's; how many. It has none any more that have gone
    elsewhere."""


@query("update nodebalancer set left_host = host, host = $2 where id = $1")
async def begin_move(db: Queries, nodebalancer_id: int, host: str) -> None:
    """It is that host's, and may still be served by the one that had it."""


@query("update nodebalancer set host = $2, left_host = null where id = $1")
async def put(db: Queries, nodebalancer_id: int, host: str) -> None:
    """It is that host's alone."""


@query("""
    update nodebalancer set host = left_host, left_host = null
    where id = $1 and left_host is not null returning host
    """)
async def stay(db: Queries, nodebalancer_id: int) -> str | None:
    """It is back where it was; the host, or None when that has given it up."""


@query("update nodebalancer set left_host = null where id = $1 and left_host = $2")
async def leave(db: Queries, nodebalancer_id: int, host: str) -> None:
    """A host has nothing of it any more."""
