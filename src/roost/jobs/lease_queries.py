"""The SQL of workers: claims, leases, and writes fenced by them.

A lease runs on the database's clock; what a job waits for, on the clock that a lab moves.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from roost.jobs.model import AT_ONCE, Job, Stop
from roost.jobs.queries import COLUMNS, READY, to_job
from roost.store import Queries

# Behind another job of its resource: one that has begun, or an earlier one that is due.
_BEHIND = """
    exists (
        select from job as other where other.resource = job.resource and other.id <> job.id
            and other.status in ('running', 'waiting')
    ) or exists (
        select from job as other where other.resource = job.resource and other.id < job.id
            and other.status = 'queued' and other.run_at <= $4
    )
"""

_ANY = f"""
    select id from job
    where status in ('queued', 'waiting') and run_at <= $4 and kind = any($3)
        and (status = 'waiting' or resource is null or not ({_BEHIND}))
    order by run_at, id
    limit $5
    for update skip locked
"""  # noqa: S608 - constants

# One probe of an index each, however many jobs are in the queue of a resource.
_HEADS = f"""
    select id from job
    where id in (
            select head.id from unnest($6::text[]) as freed (resource), lateral (
                select id from job
                where job.resource = freed.resource
                    and status in ('queued', 'running', 'waiting') and run_at <= $4
                order by id limit 1
            ) as head
        )
        and status in ('queued', 'waiting') and run_at <= $4 and kind = any($3)
        and (status = 'waiting' or not ({_BEHIND}))
    limit $5
    for update skip locked
"""  # noqa: S608

_CLAIM = """
    with due as ({due})
    update job set status = 'running', owner = $1, fence = fence + 1,
        revision = revision + 1, lease_until = clock_timestamp() + $2,
        started = coalesce(started, $4)
    from due where job.id = due.id
    returning {columns}
"""

_CLAIM_ANY = _CLAIM.format(due=_ANY, columns=COLUMNS)
_CLAIM_HEADS = _CLAIM.format(due=_HEADS, columns=COLUMNS)


async def claim(
    db: Queries,
    owner: str,
    lease: float,
    kinds: Sequence[str],
    now: datetime,
    limit: int,
    resources: Sequence[str] | None = None,
) -> list[Job]:
    """Take due jobs, at most one of each resource: the one that has begun, else the oldest.

    With `resources` only jobs of these. asyncpg.UniqueViolationError when another worker begins
    a job of the same resource, possible only when its earlier one was committed after a later one.
    """
    arguments = (owner, timedelta(seconds=lease), kinds, now, limit)
    if resources is None:
        records = await db.fetch(_CLAIM_ANY, *arguments)
    else:
        records = await db.fetch(_CLAIM_HEADS, *arguments, resources)
    return [to_job(record) for record in records]


async def postpone(db: Queries, job_id: int, until: datetime) -> None:
    """Let others go first."""
    await db.execute(
        "update job set run_at = $2 where id = $1 and status = 'queued'", job_id, until
    )


async def save(db: Queries, old: Job, new: Job, lease: float) -> bool:
    """Write what a worker made of its job. False when the job has changed or is not its own."""
    saved = await db.fetchval(
        """
        update job set status = $5, phase = $6, step = $7, attempt = $8, results = $9,
            error = $10, undo_error = $11, run_at = $12, finished = $13,
            percent = $15,
            owner = case when $5 = 'running' then owner end,
            lease_until = case when $5 = 'running' then clock_timestamp() + $14 end,
            revision = revision + 1
        where id = $1 and owner = $2 and fence = $3 and revision = $4 and status = 'running'
        returning id
        """,
        old.id,
        old.owner,
        old.fence,
        old.revision,
        new.status,
        new.phase,
        new.step,
        new.attempt,
        json.dumps(new.results),
        new.error,
        new.undo_error,
        new.run_at,
        new.finished,
        timedelta(seconds=lease),
        new.percent,
    )
    return saved is not None


async def save_percent(db: Queries, job: Job, percent: int) -> bool:
    saved = await db.fetchval(
        """
        update job set percent = $4
        where id = $1 and owner = $2 and fence = $3 and status = 'running' returning id
        """,
        job.id,
        job.owner,
        job.fence,
        percent,
    )
    return saved is not None


@dataclass(frozen=True, slots=True)
class Held:
    """A job as its worker's heartbeat found it."""

    id: int
    fence: int
    stop: Stop | None


async def renew(db: Queries, owner: str, job_ids: Sequence[int], lease: float) -> list[Held]:
    """Renew the leases of one's jobs and return those that are still one's own.

    A row that a transaction holds locked is left alone: that transaction is its renewal.
    """
    records = await db.fetch(
        """
        with mine as (
            select id from job
            where id = any($2) and owner = $1 and status = 'running' for update skip locked
        ), renewed as (
            update job set lease_until = clock_timestamp() + $3 from mine where job.id = mine.id
        )
        select id, fence, stop from job where id = any($2) and owner = $1 and status = 'running'
        """,
        owner,
        job_ids,
        timedelta(seconds=lease),
    )
    return [Held(**dict(record)) for record in records]


@dataclass(frozen=True, slots=True)
class Lost:
    """A job whose worker is silent."""

    id: int
    kind: str
    resource: str | None


async def recover(db: Queries, held: Sequence[int]) -> list[Lost]:
    """Take jobs from workers that are silent; each counts as a failure.

    Not those that one `held` through a pause in which nobody else took them.
    """
    records = await db.fetch(
        f"""
        with lost as (
            select id from job
            where status = 'running' and lease_until < clock_timestamp() and id <> all($1)
            for update skip locked
        ), freed as (
            update job set status = 'waiting', owner = null, lease_until = null,
                run_at = '-infinity', attempt = attempt + 1, revision = revision + 1
            from lost where job.id = lost.id returning job.id, kind, resource
        )
        select id, kind, resource, pg_notify('{READY}', '') from freed
        """,  # noqa: S608
        held,
    )
    return [Lost(record["id"], record["kind"], record["resource"]) for record in records]


async def release(db: Queries, job: Job) -> None:
    """Hand a job that stays unfinished to any other worker."""
    await db.execute(
        f"""
        with released as (
            update job set status = 'waiting', owner = null, lease_until = null,
                run_at = $4, revision = revision + 1
            where id = $1 and owner = $2 and fence = $3 and status = 'running' returning id
        )
        select pg_notify('{READY}', '') from released
        """,  # noqa: S608
        job.id,
        job.owner,
        job.fence,
        AT_ONCE,
    )
