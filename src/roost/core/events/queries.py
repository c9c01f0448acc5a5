"""SQL of events as they are written and as the jobs that they show go on."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import orjson

from roost.core.entities.records import Entity
from roost.jobs.queries import EVENT_PARAMETER, EventInsert
from roost.store import Queries
from roost.store.query import query

FirstStatus = Literal["scheduled", "notification"]
"""How an event begins: as that of a job, or over already."""


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
_WITH_JOB = _insert(EVENT_PARAMETER)


async def add(db: Queries, new: NewEvent) -> None:
    await db.execute(_INSERT, *new.values)


def with_job(new: NewEvent) -> EventInsert:
    """An event to be written with its job."""
    return EventInsert(_WITH_JOB, new.values)


FINISH = """
    , ended as (
        delete from job_event using saved where job_id = saved.id returning event_id
    ), told as (
        update event set status = 'finished', percent_complete = 100,
            started = coalesce(event.started, :finished), ended = :finished,
            rate = size / nullif(extract(epoch from :finished::timestamp - event.started), 0)
        from saved
        where event.id = any(array(select event_id from ended) || :event_id::bigint)
    )
"""
"""The event of a job that has gone well, and those that have joined it (`JobListener.ending`)."""

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


@query("""
    update event set percent_complete = $2::integer,
        rate = size * $2::integer / 100.0
            / nullif(extract(epoch from $3::timestamp - started), 0),
        expected = $3::timestamp
            + ($3::timestamp - started) * ((100 - $2::integer)::float / nullif($2::integer, 0))
    where id = $1
    """)
async def progress(db: Queries, event_id: int, percent: int, now: datetime) -> None:
    """How far it is, how fast that went, and when it will be over if it goes on so."""


@query("update event set message = $2 where id = $1")
async def explain(db: Queries, event_id: int, message: str) -> None: ...


@query(f"""
    {_END}
    update event set status = 'failed', message = $4,
        started = coalesce(started, $3), ended = $3 where id = {_ENDED}
    """)
async def fail(db: Queries, event_id: int, job_id: int, now: datetime, message: str) -> None:
    """The event of a job, and those that have joined it."""


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
