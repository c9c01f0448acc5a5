"""SQL of events."""

# ruff: noqa: S608  (statements are put together from constants)

from datetime import datetime, timedelta

import orjson

from roost.resources.entities.records import Entity
from roost.resources.events.records import EventStatus
from roost.store import Queries
from roost.store.paging import Column, Listing
from roost.web.grant_queries import only_granted

KEPT = timedelta(days=90)
"""Spec B, Limits: events history."""

EVENTS = Listing(
    record="""
        e.id, e.action, e.created, round(extract(epoch from e.ended - e.started), 3) as duration,
        e.entity, e.secondary_entity, e.percent_complete, null as rate, e.read, e.seen, e.status,
        null as time_remaining, e.username, e.message
        """,
    source="event e",
    scope="e.account_id = $1 and e.created > $2",
    key="e.id",
    descending=True,
    granted=(
        "e.entity_type",
        "case when e.entity_id ~ '^[0-9]{1,18}$' then e.entity_id::bigint end",
    ),
    columns={
        "id": Column("e.id", "int"),
        "action": Column("e.action", "text"),
        "created": Column("e.created", "time"),
        "read": Column("e.read", "bool"),
        "seen": Column("e.seen", "bool"),
        "entity.id": Column("e.entity_id", "id"),
        "entity.type": Column("e.entity_type", "text"),
    },
)
"""`seen` is filterable beside the reference's list, as clients of the Cloud UI filter on it."""


async def add(
    db: Queries,
    account_id: int,
    username: str | None,
    action: str,
    status: EventStatus,
    now: datetime,
    entity: Entity | None,
    secondary: Entity | None,
) -> int:
    event_id: int = await db.fetchval(
        """
        insert into event (account_id, username, action, status, created, percent_complete,
            entity, secondary_entity)
        values ($1, $2, $3, $4, $5, case when $4 = 'notification' then null else 0 end, $6, $7)
        returning id
        """,
        account_id,
        username,
        action,
        status,
        now,
        None if entity is None else orjson.dumps(entity).decode(),
        None if secondary is None else orjson.dumps(secondary).decode(),
    )
    return event_id


_JOINED = "any(array(select event_id from job_event where job_id = $2) || $1::bigint)"
_ENDED = "any(array(select event_id from ended) || $1::bigint)"
_END = "with ended as (delete from job_event where job_id = $2 returning event_id)"


async def start(db: Queries, event_id: int, job_id: int, now: datetime) -> None:
    """The event of a job, and those that have joined it; likewise below."""
    await db.execute(
        f"""
        update event set status = 'started', started = coalesce(started, $3) where id = {_JOINED}
        """,
        event_id,
        job_id,
        now,
    )


async def progress(db: Queries, event_id: int, percent: int) -> None:
    await db.execute("update event set percent_complete = $2 where id = $1", event_id, percent)


async def finish(db: Queries, event_id: int, job_id: int, now: datetime) -> None:
    await db.execute(
        f"""
        {_END}
        update event set status = 'finished', percent_complete = 100,
            started = coalesce(started, $3), ended = $3 where id = {_ENDED}
        """,
        event_id,
        job_id,
        now,
    )


async def fail(db: Queries, event_id: int, job_id: int, now: datetime, message: str) -> None:
    await db.execute(
        f"""
        {_END}
        update event set status = 'failed', message = $4,
            started = coalesce(started, $3), ended = $3 where id = {_ENDED}
        """,
        event_id,
        job_id,
        now,
        message,
    )


async def count_since(
    db: Queries, account_id: int, entity: Entity, action: str, since: datetime
) -> int:
    """Events of one kind about one thing, after a time."""
    count: int = await db.fetchval(
        """
        select count(*) from event where account_id = $1 and entity_type = $2
            and entity_id = $3::text and action = $4 and created > $5
        """,
        account_id,
        entity["type"],
        str(entity["id"]),
        action,
        since,
    )
    return count


async def mark_read(db: Queries, event_id: int) -> None:
    await db.execute("update event set read = true where id = $1 and not read", event_id)


async def mark_seen(
    db: Queries, account_id: int, since: datetime, event_id: int, grantee: int | None
) -> None:
    """This event and all before it (spec B, Account); of a grantee's, who sees no others."""
    scope = EVENTS.scope
    arguments: list[object] = [account_id, since, event_id]
    if grantee is not None:
        scope = only_granted(EVENTS, 4).scope
        arguments.append(grantee)
    await db.execute(
        f"update event e set seen = true where {scope} and e.id <= $3 and not e.seen", *arguments
    )


async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` events of all accounts; how many it were."""
    deleted: int = await db.fetchval(
        """
        with old as (
            delete from event where id in (
                select id from event where created <= $1 order by id limit $2)
            returning id)
        select count(*) from old
        """,
        before,
        limit,
    )
    return deleted
