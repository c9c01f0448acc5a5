"""The SQL of upkeep: deadlines, figures, old rows and schedules."""

from dataclasses import dataclass
from datetime import datetime

from roost.jobs.model import Job, Status
from roost.jobs.queries import COLUMNS, to_job
from roost.store import Queries


async def mark_overdue(db: Queries, now: datetime) -> list[Job]:
    """Jobs that have passed their deadline since the last call, in real time."""
    records = await db.fetch(
        f"""
        with late as (
            select id from job
            where status in ('queued', 'running', 'waiting') and not overdue
                and deadline < clock_timestamp() and (status <> 'queued' or run_at <= $1)
            for update skip locked
        )
        update job set overdue = true from late where job.id = late.id returning {COLUMNS}
        """,  # noqa: S608
        now,
    )
    return [to_job(record) for record in records]


@dataclass(frozen=True, slots=True)
class Count:
    """Unfinished jobs of a kind; `oldest`: when the first of those that are due became due;
    `begun`: when the first that has begun was."""

    kind: str
    status: Status
    jobs: int
    oldest: datetime | None
    begun: datetime | None


async def count(db: Queries, now: datetime) -> list[Count]:
    records = await db.fetch(
        """
        select kind, status, count(*) as jobs,
            min(greatest(run_at, created)) filter (where run_at <= $1) as oldest,
            min(started) as begun
        from job where status in ('queued', 'running', 'waiting') group by kind, status
        """,
        now,
    )
    return [Count(**dict(record)) for record in records]


async def count_failed(db: Queries, since: datetime) -> dict[str, int]:
    """Jobs that have failed since a time, by kind; whichever process ran them."""
    records = await db.fetch(
        """
        select kind, count(*) as jobs from job
        where finished >= $1 and status = 'failed' group by kind order by kind
        """,
        since,
    )
    return {record["kind"]: record["jobs"] for record in records}


async def sums_of_results(db: Queries, kind: str, step: str, since: datetime) -> dict[str, int]:
    """The sums of the numbers, by name, that a step of jobs of the kind left since a time."""
    records = await db.fetch(
        """
        select found.key, sum(found.value::bigint)::bigint as total
        from job, jsonb_each_text(job.results -> $2::text) as found
        where job.kind = $1 and job.finished >= $3 and job.status = 'done'
        group by found.key order by found.key
        """,
        kind,
        step,
        since,
    )
    return {record["key"]: record["total"] for record in records}


async def count_unfinished(db: Queries, kind: str) -> int:
    count: int = await db.fetchval(
        """
        select count(*) from job
        where kind = $1 and status in ('queued', 'running', 'waiting')
        """,
        kind,
    )
    return count


async def find_queues(db: Queries, after: str, limit: int) -> list[str]:
    """Resources with jobs that wait for earlier ones, in order, from behind `after`."""
    records = await db.fetch(
        """
        with recursive queue (resource) as (
            (select resource from job where behind and resource > $1 order by resource limit 1)
            union all
            select next.resource from queue cross join lateral (
                select resource from job where behind and resource > queue.resource
                order by resource limit 1
            ) as next
        )
        select resource from queue limit $2
        """,
        after,
        limit,
    )
    return [record["resource"] for record in records]


async def delete_finished(db: Queries, before: datetime, limit: int) -> int:
    """Forget the oldest jobs that ended before a time; returns how many."""
    deleted = await db.fetch(
        """
        delete from job where id in (
            select id from job where finished < $1 order by finished limit $2
            for update skip locked
        ) returning id
        """,
        before,
        limit,
    )
    return len(deleted)


async def add_schedule(db: Queries, name: str, now: datetime) -> None:
    """Count ticks from `now` on, if the schedule is new."""
    await db.execute(
        "insert into job_schedule (name, ticked) values ($1, $2) on conflict do nothing", name, now
    )


async def lock_schedule(db: Queries, name: str) -> datetime:
    """The last tick for which a job was made; other workers wait until this transaction ends."""
    ticked: datetime = await db.fetchval(
        "select ticked from job_schedule where name = $1 for update", name
    )
    return ticked


async def save_tick(db: Queries, name: str, ticked: datetime) -> None:
    await db.execute("update job_schedule set ticked = $2 where name = $1", name, ticked)
