"""The SQL of lists of jobs, for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from asyncpg import Record

from roost.jobs.model import AT_ONCE, Phase, Status
from roost.store import Queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs; what is None or empty does not matter."""

    statuses: Sequence[str] = ()
    kind: str | None = None
    resource: str | None = None
    account_id: int | None = None
    before: datetime | None = None
    """By when they were enqueued."""
    job_id: int | None = None
    scheduled: bool = True
    """Whether jobs that a schedule enqueues count, too."""
    limit: int


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A job as its row and the rows before it show it."""

    id: int
    kind: str
    resource: str | None
    account_id: int | None
    event_id: int | None
    status: Status
    phase: Phase
    step: str
    attempt: int
    """Failures of the step so far."""
    percent: int
    waits_for: int | None
    """The job of the same resource that goes first."""
    next_attempt: datetime | None
    """When it is due, where that is not at once."""
    overdue: bool
    worker: str | None
    created: datetime
    started: datetime | None
    finished: datetime | None
    error: str | None
    undo_error: str | None
    trace_id: str | None
    """Of the request that enqueued it, where traces are kept."""


_LIST = """
    select id, kind, resource, account_id, event_id, status, phase, step, attempt, percent,
        case when status = 'queued' and resource is not null then (
            select other.id from job as other
            where other.resource = job.resource and other.id <> job.id
                and (other.status in ('running', 'waiting')
                    or (other.status = 'queued' and other.id < job.id))
            order by other.status = 'queued', other.id limit 1
        ) end as waits_for,
        run_at, overdue, owner, created, started, finished, error, undo_error,
        split_part(trace, '-', 2) as trace_id
    from job
    where ($1::text[] = '{}' or status = any($1)) and ($2::text is null or kind = $2)
        and ($3::text is null or resource = $3) and ($4::bigint is null or account_id = $4)
        and ($5::timestamp is null or created < $5) and ($6::bigint is null or id = $6)
        and ($7 or schedule is null)
    order by id desc limit $8
"""


@dataclass(frozen=True, slots=True)
class BusyAccount:
    """How many jobs of an account are unfinished, or have ended lately."""

    account_id: int
    unfinished: int
    ended: int
    failed: int
    """Of those that have ended."""


async def busiest(db: Queries, since: datetime, limit: int) -> list[BusyAccount]:
    """Accounts with jobs that are unfinished or have ended since a time, the busiest first."""
    records = await db.fetch(
        """
        with lately as (
            select account_id, status, false as ended from job
            where status in ('queued', 'running', 'waiting') and account_id is not null
            union all
            select account_id, status, true from job
            where finished >= $1 and account_id is not null
        )
        select account_id, count(*) filter (where not ended) as unfinished,
            count(*) filter (where ended) as ended,
            count(*) filter (where status = 'failed') as failed
        from lately group by account_id order by count(*) desc, account_id limit $2
        """,
        since,
        limit,
    )
    return [BusyAccount(**record) for record in records]


async def list_jobs(db: Queries, wanted: Wanted) -> list[ListedJob]:
    """The latest first."""
    records = await db.fetch(
        _LIST,
        wanted.statuses,
        wanted.kind,
        wanted.resource,
        wanted.account_id,
        wanted.before,
        wanted.job_id,
        wanted.scheduled,
        wanted.limit,
    )
    return [_listed(record) for record in records]


def _listed(record: Record) -> ListedJob:
    row = dict(record)
    run_at, due = row.pop("run_at"), row["status"] in ("queued", "waiting")
    row["next_attempt"] = run_at if due and run_at != AT_ONCE else None
    row["worker"] = row.pop("owner")
    return ListedJob(**row)
