"""The SQL of workers: claims, leases, and writes fenced by them.

A lease runs on the database's clock; what a job waits for, on the clock that a lab moves.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TypeAlias

from roost.jobs.fairness import Candidate, Line
from roost.jobs.kinds import Kinds
from roost.jobs.model import AT_ONCE, Job, Stop
from roost.jobs.queries import COLUMNS, READY, to_job
from roost.settings import MAIN_HOST
from roost.store import Queries
from roost.store.statement import Statement

# Behind another job of its resource: one that has begun, or an earlier one that is due. It is
# checked also where nothing is marked, as jobs enqueued at the same moment do not see each other.
_BEHIND = """
    exists (
        select from job as other where other.resource = job.resource and other.id <> job.id
            and other.status in ('running', 'waiting')
    ) or exists (
        select from job as other where other.resource = job.resource and other.id < job.id
            and other.status = 'queued' and not other.behind and other.run_at <= $4
    )
"""

_WAITS = "status in ('queued', 'waiting') and not behind"

# A probe of the index for each line, and for each of their first jobs, however long the lines are.
_CANDIDATES = f"""
    with recursive line (tenant, kind, status) as (
        (
            select coalesce(account_id, 0), kind, status from job
            where {_WAITS} and host = $9
                and (coalesce(account_id, 0), kind, status) > ($1, $2, $8)
            order by coalesce(account_id, 0), kind, status limit 1
        )
        union all
        select next.* from line cross join lateral (
            select coalesce(account_id, 0), kind, status from job
            where {_WAITS} and host = $9
                and (coalesce(account_id, 0), kind, status) > (line.tenant, line.kind, line.status)
            order by coalesce(account_id, 0), kind, status limit 1
        ) as next
    )
    select line.tenant, line.kind, line.status, head.id, head.run_at,
        case when line.kind = any($6::text::text[]) then (
            select count(*) from job as other
            where other.status = 'running' and other.kind = line.kind
                and coalesce(other.account_id, 0) = line.tenant
        ) else 0 end as running
    from (select * from line limit $7) as line left join lateral (
        select id, run_at from job
        where {_WAITS} and host = $9 and coalesce(account_id, 0) = line.tenant
            and kind = line.kind
            and status = line.status and kind = any($3::text::text[]) and run_at <= $4
            and (status = 'waiting' or resource is null or not ({_BEHIND}))
        order by run_at, id limit $5
    ) as head on true
"""  # noqa: S608 - constants

_CLAIM = f"""
    with due as (
        select claimed.id from unnest($5::bigint[]) as wanted (id) cross join lateral (
            select id from job
            where id = wanted.id and status in ('queued', 'waiting') and run_at <= $4
                and kind = any($3::text::text[]) and host = $6
                and (status = 'waiting' or resource is null or not ({_BEHIND}))
            for update skip locked
        ) as claimed
    )
    update job set status = 'running', owner = $1, fence = fence + 1,
        revision = revision + 1, lease_until = clock_timestamp() + $2, behind = false,
        started = coalesce(started, $4)
    from due where job.id = due.id
    returning {COLUMNS}
"""  # noqa: S608


Place: TypeAlias = tuple[int, str, str]
"""A line and a status, in the order of the index."""

FIRST: Place = (-1, "", "")


@dataclass(frozen=True, slots=True)
class Claimable:
    """The jobs that may be claimed: the first ones of each line, of the lines that were read."""

    candidates: list[Candidate]
    running: dict[Line, int]
    """On all workers, of limited kinds."""
    rest: Place
    """Where the next reader begins."""


async def find_waiting(
    db: Queries,
    kinds: Kinds,
    now: datetime,
    place: Place,
    limits: tuple[int, int],
    host: str = MAIN_HOST,
) -> Claimable:
    """Due jobs of a host's lines behind a place; `limits`: of lines, and of the jobs in each."""
    tenant, kind, status = place
    lines, heads = limits
    values = (tenant, kind, kinds.names, now, heads, kinds.limited, lines, status, host)
    records = await db.fetch(_CANDIDATES, *values)
    candidates, running, places = list[Candidate](), dict[Line, int](), set[Place]()
    for record in records:
        line, status = Line(record["tenant"], record["kind"]), record["status"]
        places.add((line.tenant, line.kind, status))
        running[line] = record["running"]
        if record["id"] is not None:
            begun = status == "waiting"
            candidates.append(Candidate(record["id"], line, begun, record["run_at"]))
    return Claimable(candidates, running, max(places) if len(places) == lines else FIRST)


async def claim(
    db: Queries,
    owner: str,
    lease: float,
    kinds: Kinds,
    now: datetime,
    job_ids: Sequence[int],
    host: str = MAIN_HOST,
) -> list[Job]:
    """Take these jobs where they still are due and the host's, at most one of each resource.

    asyncpg.UniqueViolationError when another worker begins a job of the same resource, possible
    only when its earlier one was committed after a later one.
    """
    length = timedelta(seconds=lease)
    records = await db.fetch(_CLAIM, owner, length, kinds.names, now, job_ids, host)
    return sorted(map(to_job, records), key=lambda job: job_ids.index(job.id))


async def postpone(db: Queries, job_id: int, until: datetime) -> None:
    """Let others go first."""
    await db.execute(
        "update job set run_at = $2 where id = $1 and status = 'queued'", job_id, until
    )


_SAVE = """
    with saved as (
        update job set status = :status, phase = :phase, step = :step, attempt = :attempt,
            results = :results, error = :error, undo_error = :undo_error, run_at = :run_at,
            finished = :finished, percent = :percent, host = :host,
            owner = case when :status = 'running' then owner end,
            lease_until = case when :status = 'running' then clock_timestamp() + :lease end,
            revision = revision + 1
        where id = :id and owner = :owner and fence = :fence and revision = :revision
            and status = 'running'
        returning id
    ), freed as (
        update job set behind = false from saved
        where :finished::timestamp is not null and job.id = (
            select id from job where resource = :resource and behind order by id limit 1
            for update skip locked
        )
    ), handed as (
        select pg_notify(:ready, '') from saved where :host::text <> :former_host::text
    )
    {ending}
    select id, (select count(*) from handed) from saved
"""


@cache
def _save(ending: str) -> Statement:
    return Statement(_SAVE.format(ending=ending))


async def save(db: Queries, old: Job, new: Job, lease: float, ending: str = "") -> bool:
    """Write what a worker made of its job; at its end the next one of its resource may begin.

    `ending` is what a listener adds (`JobListener.ending`). False when the job has changed or is
    not the worker's own.
    """
    saved = await db.fetchval(
        *_save(ending).of(
            new,
            id=old.id,
            owner=old.owner,
            fence=old.fence,
            revision=old.revision,
            resource=old.resource,
            former_host=old.host,
            ready=READY,
            results=json.dumps(new.results),
            lease=timedelta(seconds=lease),
        )
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
