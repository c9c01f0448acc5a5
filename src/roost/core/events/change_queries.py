"""SQL of changes of events, and of the order in which they are told.

Numbers that transactions take for themselves become visible in another order than they were taken
in. So a change has none when it is written: one transaction after another gives them to what has
been committed (`order`), so that whoever has read up to a position has missed nothing below it.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from roost.store import Queries
from roost.store.query import query

CHANNEL = "roost_event"
"""Events have come or changed; nobody is told while there are no readers."""


@dataclass(frozen=True, slots=True)
class Change:
    position: int
    account_id: int
    event_id: int


@query("select order_event_changes($1)")
async def order(db: Queries, limit: int) -> bool:
    """Give positions to at most so many changes that have none; whether there may be more of them.

    In a transaction of its own: others wait for its end to give the next ones.
    """


@query("select last from event_order")
async def last_position(db: Queries) -> int:
    """0 before the first."""


@query("""
    select position, account_id, event_id from event_change where position > $1
    order by position limit $2
    """)
async def list_changes(db: Queries, after: int, limit: int) -> list[Change]:
    """Changes of all accounts."""


@query("""
    select position, account_id, event_id from event_change
    where account_id = $1 and position > $2 and position <= $3
    order by position limit $4
    """)
async def list_of_account(
    db: Queries, account_id: int, after: int, until: int, limit: int
) -> list[Change]: ...


@query("select coalesce(max(position), 0) from event_change where account_id = $1")
async def last_of_account(db: Queries, account_id: int) -> int:
    """0 when it has none."""


@query("""
    insert into event_reader (id) values ($1)
    on conflict (id) do update set seen = excluded.seen
    """)
async def register(db: Queries, reader: UUID) -> None:
    """Be told of changes from now on."""


@query("delete from event_reader where id = $1")
async def unregister(db: Queries, reader: UUID) -> None: ...


@query("""
    delete from event_reader
    where seen < (clock_timestamp() at time zone 'UTC') - interval '10 minutes'
    """)
async def drop_dead(db: Queries) -> None:
    """Readers whose process was killed."""


@query("""
    with first as (
        select position, created from event_change where position is not null
        order by position limit $2
    ), old as (
        delete from event_change
        where position in (select position from first where created <= $1) returning id
    )
    select count(*) from old
    """)
async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` changes of all accounts; how many it were."""
