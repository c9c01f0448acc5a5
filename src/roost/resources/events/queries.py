"""SQL of events."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import orjson

from roost.core.entities.records import Entity
from roost.jobs.queries import FACE_PARAMETER, Face
from roost.store import Queries
from roost.store.paging import Column, Listing

KEPT = timedelta(days=90)
"""Spec B, Limits: events history."""

_OF_DISKS = """(
    'disk_create', 'disk_delete', 'disk_update', 'disk_duplicate', 'disk_imagize', 'disk_resize')"""
"""Their entity is the instance, and clients look for them by the type `disks` too."""

EVENTS = Listing(
    record="""
        e.id, e.action, e.created, round(extract(epoch from e.ended - e.started), 3) as duration,
        e.entity, e.secondary_entity, e.percent_complete,
        round(e.rate, 2) || ' MB/s' as rate, e.read, e.seen, e.status,
        case when e.status = 'started' and e.expected is not null then to_char(
            greatest(e.expected - ($2::timestamp + interval '90 days'), interval '0'),
            'FMHH24:MI:SS') end as time_remaining,
        e.username, e.message
        """,
    source="event e",
    scope="e.account_id = $1 and e.created > $2",
    key="e.id",
    descending=True,
    columns={
        "id": Column("e.id", "int"),
        "action": Column("e.action", "text"),
        "created": Column("e.created", "time"),
        "read": Column("e.read", "bool"),
        "seen": Column("e.seen", "bool"),
        "entity.id": Column("e.entity_id", "id"),
        "entity.type": Column("e.entity_type", "text", means=("disks", f"e.action in {_OF_DISKS}")),
    },
)
"""`seen` is filterable beside the reference's list, as clients of the Cloud UI filter on it."""


def _granted(kind: str, entity_id: str) -> str:
    """SQL of whether the user $3 has a grant on what an event names."""
    return f"""
        exists (select from entity_grant g where g.user_id = $3 and g.kind = {kind}
            and g.entity_id = substring({entity_id} from '^(?:private/)?([0-9]{{1,18}})$')::bigint)
        """


SEEN_BY_RESTRICTED = replace(
    EVENTS,
    scope=f"""
        {EVENTS.scope} and (e.user_id = $3
            or {_granted("e.entity_type", "e.entity_id")}
            or e.entity_type <> all($4::text[]) and ($5
                or {_granted("e.secondary_entity ->> 'type'", "e.secondary_entity ->> 'id'")}))
        """,
)
"""What the user $3 did, what happened to entities that are granted to them, and what is about
none of the kinds on which grants are given ($4): to users who may look at the account ($5), and
what belongs to a granted entity, as an address does to its instance."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The events that somebody sees."""

    listing: Listing
    arguments: tuple[object, ...]


FirstStatus = Literal["scheduled", "notification"]
"""How an event begins: as the face of a job, or over already."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A row to insert."""

    account_id: int
    username: str | None
    action: str
    status: FirstStatus
    created: datetime
    entity: Entity | None
    secondary: Entity | None
    message: str = ""
    size: int | None = None
    """MB"""

    @property
    def values(self) -> tuple[object, ...]:
        """The parameters of the insert."""
        return (
            self.account_id,
            self.username,
            self.action,
            self.status,
            self.created,
            None if self.status == "notification" else 0,
            None if self.entity is None else orjson.dumps(self.entity).decode(),
            None if self.secondary is None else orjson.dumps(self.secondary).decode(),
            self.message,
            self.size,
        )


def _insert(first: int) -> str:
    """The statement with its parameters numbered from `first` on."""
    account, user, *others = (f"${first + n}" for n in range(10))
    return f"""
        insert into event (account_id, username, user_id, action, status, created,
            percent_complete, entity, secondary_entity, message, size)
        values ({account}, {user},
            (select id from api_user where username = {user} and account_id = {account}),
            {", ".join(others)})
        returning id
    """


_INSERT = _insert(1)
_FACE = _insert(FACE_PARAMETER)


async def add(db: Queries, new: NewEvent) -> None:
    await db.execute(_INSERT, *new.values)


def face(new: NewEvent) -> Face:
    """An event to be written with its job."""
    return Face(_FACE, new.values)


_ENDED = "any(array(select event_id from ended) || $1::bigint)"
_END = "with ended as (delete from job_event where job_id = $2 returning event_id)"


async def start(db: Queries, events: Mapping[int, int], now: datetime) -> None:
    """The events of jobs, by the jobs' ids, and those that have joined them."""
    await db.execute(
        """
        update event set status = 'started', started = coalesce(started, $3)
        where id = any(
            array(select event_id from job_event where job_id = any($2)) || $1::bigint[])
        """,
        list(events.values()),
        list(events),
        now,
    )


async def progress(db: Queries, event_id: int, percent: int, now: datetime) -> None:
    """How far it is, how fast that went, and when it will be over if it goes on so."""
    await db.execute(
        """
        update event set percent_complete = $2::integer,
            rate = size * $2::integer / 100.0
                / nullif(extract(epoch from $3::timestamp - started), 0),
            expected = $3::timestamp
                + ($3::timestamp - started) * ((100 - $2::integer)::float / nullif($2::integer, 0))
        where id = $1
        """,
        event_id,
        percent,
        now,
    )


async def explain(db: Queries, event_id: int, message: str) -> None:
    await db.execute("update event set message = $2 where id = $1", event_id, message)


async def finish(db: Queries, event_id: int, job_id: int, now: datetime) -> None:
    """The event of a job, and those that have joined it; likewise below."""
    await db.execute(
        f"""
        {_END}
        update event set status = 'finished', percent_complete = 100,
            started = coalesce(started, $3), ended = $3,
            rate = size / nullif(extract(epoch from $3::timestamp - started), 0)
        where id = {_ENDED}
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


async def mark_seen(db: Queries, visible: Visible, event_id: int) -> None:
    """This event and all before it (spec B, Account), of those that somebody sees."""
    scope, position = visible.listing.scope, len(visible.arguments) + 1
    await db.execute(
        f"update event e set seen = true where {scope} and e.id <= ${position} and not e.seen",
        *visible.arguments,
        event_id,
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
