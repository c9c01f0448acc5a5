"""The SQL of lists of events of all accounts, for the operator."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event as its account sees it."""

    id: int
    created: datetime
    account_id: int
    username: str | None
    action: str
    status: str
    percent: int | None
    entity_type: str | None
    entity_id: str | None
    label: str | None
    message: str


_COLUMNS = """
    id, created, account_id, username, action, status, percent_complete as percent, entity_type,
    entity_id, entity ->> 'label' as label, message
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events; what is None does not matter."""

    account_id: int | None = None
    status: str | None = None
    username: str | None = None
    entity_type: str | None = None
    entity_id: str | None = None
    since: datetime | None = None


_WANTED = """
    ($1::bigint is null or account_id = $1) and ($2::text is null or username = $2)
    and ($3::text is null or entity_type = $3) and ($4::text is null or entity_id = $4)
    and ($5::timestamp is null or created >= $5)
"""


def _values(wanted: Wanted) -> tuple[object, ...]:
    return (
        wanted.account_id,
        wanted.username,
        wanted.entity_type,
        wanted.entity_id,
        wanted.since,
    )


async def list_recent(db: Queries, wanted: Wanted, limit: int) -> list[ListedEvent]:
    """The latest ones, the earliest of them first."""
    records = await db.fetch(
        f"""
        select {_COLUMNS} from event where {_WANTED} and ($6::text is null or status = $6)
        order by id desc limit $7
        """,
        *_values(wanted),
        wanted.status,
        limit,
    )
    return [ListedEvent(**dict(record)) for record in reversed(records)]


async def list_changed(
    db: Queries, wanted: Wanted, after: int, unfinished: Collection[int]
) -> list[ListedEvent]:
    """Those behind an id, and those that may have ended meanwhile, by id; of whatever status."""
    records = await db.fetch(
        f"""
        select {_COLUMNS} from event
        where {_WANTED} and (id > $6 or id = any($7::bigint[]))
        order by id limit 10000
        """,
        *_values(wanted),
        after,
        list(unfinished),
    )
    return [ListedEvent(**dict(record)) for record in records]


@query("select coalesce(max(id), 0) from event")
async def last_id(db: Queries) -> int:
    """0 when there is none."""


async def list_of_entity(
    db: Queries, account_id: int, entity_type: str, entity_id: int, limit: int
) -> list[ListedEvent]:
    """The latest first."""
    records = await db.fetch(
        f"""
        select {_COLUMNS} from event
        where account_id = $1 and entity_type = $2 and entity_id = $3
        order by id desc limit $4
        """,
        account_id,
        entity_type,
        str(entity_id),
        limit,
    )
    return [ListedEvent(**dict(record)) for record in records]
