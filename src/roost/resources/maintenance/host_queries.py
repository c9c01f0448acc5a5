"""SQL of maintenance on hosts."""

from roost.core.hosts.holdings import Holding
from roost.store import Queries
from roost.store.query import query


@query("""
    with given as (update maintenance set host = $2 where host = $1 returning status)
    select count(*) from given where status = 'started'
    """)
async def give(db: Queries, host: str, other: str) -> int:
    """What was begun on a host and has not led away from it is begun on another one; how much."""


MAINTENANCE = Holding("maintenance", give)
