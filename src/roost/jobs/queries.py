"""The SQL of jobs. Due times are the clock's (`now`), leases the database's.

Who locks more than one row takes them in this order, or PostgreSQL finds deadlocks: rows of
resources, rows of jobs, what a listener writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter

import orjson
from asyncpg import Record

from roost.jobs.model import Job, Stop
from roost.settings import MAIN_HOST
from roost.store import Queries

READY = "job_ready"
"""Channel: some job may have become due. With a payload: the first one of that resource, should
all before it have ended while it was enqueued."""

STOP = "job_stop"
"""Channel: the job whose id is the payload is to be stopped."""

COLUMNS = """
    job.id, job.kind, job.args, job.resource, job.account_id, job.event_id, job.schedule, job.tick,
    job.status, job.phase, job.step, job.attempt, job.results, job.percent, job.error,
    job.undo_error, job.stop, job.stop_reason, job.owner, job.fence, job.revision, job.run_at,
    job.created, job.started, job.finished, job.host, job.trace
"""


def to_job(record: Record) -> Job:
    fields = dict(record)
    fields["args"] = orjson.loads(fields["args"])
    fields["results"] = orjson.loads(fields["results"])
    return Job(**fields)


@dataclass(frozen=True, slots=True)
class NewJob:
    """What an enqueuer decides."""

    kind: str
    args: str
    """JSON."""
    step: str
    resource: str | None
    account_id: int | None
    schedule: str | None
    tick: datetime | None
    run_at: datetime
    deadline: timedelta
    """From now on, as the database's clock goes."""
    created: datetime
    trace: str | None
    host: str | None = None
    """Whose workers are to run it; None: those of the host on which its resource is."""


@dataclass(frozen=True, slots=True)
class EventInsert:
    """The row of a listener that shows a job, written in the statement that enqueues the job."""

    sql: str
    """An insert that returns the row's `id`, which the job keeps as its `event_id`. Its parameters
    are numbered from `EVENT_PARAMETER` on."""
    values: tuple[object, ...]


_values = attrgetter(*(field.name for field in fields(NewJob)))

EVENT_PARAMETER = len(fields(NewJob)) + 1

NO_EVENT = EventInsert("select null::bigint as id", ())

_ROW = f"""
    insert into job (kind, args, step, resource, account_id, event_id, schedule, tick,
        run_at, deadline, created, trace, host, behind)
    select $1::text, $2::jsonb, $3::text, $4::text, $5::bigint, new_event.id, $6::text,
        $7::timestamp, $8::timestamp, clock_timestamp() + $9::interval, $10::timestamp, $11::text,
        coalesce($12::text, (select host from placed where placed.resource = $4), '{MAIN_HOST}'),
        $8::timestamp <= $10::timestamp and exists (
            select from job as other where other.resource = $4
                and (other.status in ('running', 'waiting')
                    or (other.status = 'queued' and other.run_at <= $10))
        )
    from new_event
"""  # noqa: S608 - constants
_INSERTED = f"""
    select {COLUMNS}
    from job, pg_notify('{READY}', case when job.behind then job.resource else '' end)
"""  # noqa: S608 - constants


@cache
def _insert(event: str) -> str:
    return f"with new_event as ({event}), job as ({_ROW} returning *) {_INSERTED}"


@cache
def _insert_once(event: str) -> str:
    return f"""
        with same as (
            select id from job
            where resource = $4 and status = 'queued' and kind = $1 and args = $2::jsonb
                and run_at <= $8
            order by id limit 1
        ), new_event as ({event}), joined as (
            insert into job_event (job_id, event_id)
            select same.id, new_event.id from same, new_event
        ), job as ({_ROW} where not exists (select from same) returning *)
        {_INSERTED}
        """  # noqa: S608 - constants


async def insert(db: Queries, new: NewJob, event: EventInsert) -> Job:
    record = await db.fetchrow(_insert(event.sql), *_values(new), *event.values)
    assert record is not None
    return to_job(record)


async def insert_once(db: Queries, new: NewJob, event: EventInsert) -> Job | None:
    """Insert unless a queued job of the resource is the same: that is joined by the event."""
    record = await db.fetchrow(_insert_once(event.sql), *_values(new), *event.values)
    return None if record is None else to_job(record)


async def find(db: Queries, job_id: int) -> Job | None:
    record = await db.fetchrow(f"select {COLUMNS} from job where id = $1", job_id)  # noqa: S608
    return to_job(record) if record else None


async def lock(db: Queries, job_id: int) -> Job | None:
    """The job, which nobody else changes until the end of the transaction."""
    record = await db.fetchrow(
        f"select {COLUMNS} from job where id = $1 for update",  # noqa: S608
        job_id,
    )
    return to_job(record) if record else None


async def lock_resource(db: Queries, resource: str) -> list[Job]:
    """The unfinished jobs of a resource, in their order."""
    records = await db.fetch(
        f"""
        select {COLUMNS} from job
        where resource = $1 and status in ('queued', 'running', 'waiting')
        order by id for update
        """,  # noqa: S608
        resource,
    )
    return [to_job(record) for record in records]


async def free(db: Queries, resources: Sequence[str], now: datetime) -> None:
    """Let the first job of each resource be claimed, where nothing is before it any more."""
    await db.execute(
        """
        update job set behind = false where id in (
            select head.id from unnest($1::text[]) as asked (name) cross join lateral (
                select id from job
                where job.resource = asked.name and job.behind
                    and not exists (
                        select from job as other where other.resource = asked.name
                            and other.status in ('running', 'waiting')
                    )
                    and not exists (
                        select from job as other where other.resource = asked.name
                            and other.status = 'queued' and not other.behind
                            and other.run_at <= $2
                    )
                order by id limit 1
                for update skip locked
            ) as head
        )
        """,
        resources,
        now,
    )


async def is_busy(db: Queries, resources: Sequence[str], now: datetime) -> bool:
    busy: bool = await db.fetchval(
        """
        select exists (
            select from job where resource = any($1::text[])
                and (status in ('running', 'waiting') or (status = 'queued' and run_at <= $2))
        )
        """,
        resources,
        now,
    )
    return busy


@dataclass(frozen=True, slots=True)
class UnfinishedJob:
    """A job that has not ended, as others see it that come behind it."""

    id: int
    kind: str
    resource: str


async def unfinished(db: Queries, resources: Sequence[str], now: datetime) -> list[UnfinishedJob]:
    """Those by which `is_busy` is true."""
    records = await db.fetch(
        """
        select id, kind, resource from job where resource = any($1::text[])
            and (status in ('running', 'waiting') or (status = 'queued' and run_at <= $2))
        order by id
        """,
        resources,
        now,
    )
    return [UnfinishedJob(**record) for record in records]


async def any_unfinished(db: Queries, job_ids: Sequence[int]) -> bool:
    found: bool = await db.fetchval(
        """
        select exists (select from job where id = any($1::bigint[])
            and status in ('queued', 'running', 'waiting'))
        """,
        job_ids,
    )
    return found


async def flag(db: Queries, job_id: int, stop: Stop, reason: str, host: str) -> None:
    """Have the worker stop the job, and workers of the host go on with it. The lock of the job is
    held."""
    await db.execute(
        f"""
        with flagged as (
            update job set stop = $2, stop_reason = $3, host = $4, revision = revision + 1,
                run_at = case when status = 'running' then run_at else '-infinity' end
            where id = $1 returning status
        )
        select pg_notify(case status when 'running' then '{STOP}' else '{READY}' end, $1::text)
        from flagged
        """,  # noqa: S608
        job_id,
        stop,
        reason,
        host,
    )


async def move(db: Queries, resource: str, host: str) -> None:
    """Have the jobs of a resource that have not ended run by the workers of a host."""
    await db.execute(
        f"""
        with moved as (
            update job set host = $2, revision = revision + 1
            where resource = $1 and status in ('queued', 'waiting') and host <> $2 returning id
        )
        select pg_notify('{READY}', '') from moved limit 1
        """,  # noqa: S608
        resource,
        host,
    )


async def make_due(db: Queries, job_id: int) -> None:
    """Have a job claimed at once that waits for its time. The lock of the job is held."""
    await db.execute(
        f"""
        with due as (
            update job set run_at = '-infinity', revision = revision + 1 where id = $1 returning id
        )
        select pg_notify('{READY}', '') from due
        """,  # noqa: S608
        job_id,
    )


async def end(db: Queries, job_id: int, reason: str, now: datetime) -> Job:
    """Cancel a job that nobody runs. The lock of the job is held."""
    record = await db.fetchrow(
        f"""
        with job as (
            update job set status = 'cancelled', error = $2, finished = $3,
                revision = revision + 1, behind = false
            where id = $1 returning *
        )
        select {COLUMNS} from job, pg_notify('{READY}', '')
        """,  # noqa: S608
        job_id,
        reason,
        now,
    )
    assert record is not None
    return to_job(record)
