"""The way in: enqueue, cancel and pre-empt jobs inside the caller's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from roost.clock import Clock
from roost.jobs import queries
from roost.jobs.kinds import AnyKind, JobArgs, JobKind, Kinds
from roost.jobs.listener import JobListener
from roost.jobs.model import AT_ONCE, Job
from roost.jobs.queries import NO_EVENT, EventInsert, NewJob, UnfinishedJob
from roost.jobs.retention import RETENTION
from roost.store import Queries
from roost.tracing import current_place

Args = TypeVar("Args", bound=JobArgs)


class JobQueue:
    """Jobs of an installation's kinds, with the one who tells users about them.

    Every method works in the caller's transaction: nothing has happened if that rolls back.
    """

    def __init__(self, kinds: Iterable[AnyKind], clock: Clock, listener: JobListener) -> None:
        self.kinds = Kinds((*kinds, RETENTION))
        self.clock = clock
        self.listener = listener

    async def enqueue(
        self,
        conn: Queries,
        kind: JobKind[Args],
        args: Args,
        *,
        resource: str | None = None,
        account_id: int | None = None,
        event: EventInsert = NO_EVENT,
        run_at: datetime = AT_ONCE,
        schedule: str | None = None,
        tick: datetime | None = None,
        host: str | None = None,
    ) -> Job:
        """Add a job, to be run at once or at `run_at`; of its kind's resource unless `resource`.

        Workers of `host` run it, by default those of the host on which its resource is.
        """
        new = self._new(kind, args, account_id, resource, run_at)
        if schedule is not None or host is not None:
            new = replace(new, schedule=schedule, tick=tick, host=host)
        job = await queries.insert(conn, new, event)
        await self._announce(conn, kind, job)
        return job

    async def enqueue_once(
        self,
        conn: Queries,
        kind: JobKind[Args],
        args: Args,
        *,
        account_id: int,
        event: EventInsert,
    ) -> None:
        """Add a job unless the same one is queued: that does the work of both, and its end is
        the end of both events.

        For kinds whose first step finds all that is to be done, and first waits for a lock that
        the caller has held since before this call: a job that is taken from the queue meanwhile
        sees what the caller commits.
        """
        new = self._new(kind, args, account_id)
        job = await queries.insert_once(conn, new, event)
        if job is not None:
            await self._announce(conn, kind, job)

    def _new(
        self,
        kind: JobKind[Args],
        args: Args,
        account_id: int | None,
        resource: str | None = None,
        run_at: datetime = AT_ONCE,
    ) -> NewJob:
        now = self.clock.now()
        if resource is None and kind.resource is not None:
            resource = kind.resource(args)
        return NewJob(
            kind=kind.name,
            args=args.model_dump_json(),
            step=kind.steps[0].name,
            resource=resource,
            account_id=account_id,
            schedule=None,
            tick=None,
            run_at=run_at,
            deadline=max(run_at, now) - now + timedelta(seconds=kind.deadline),
            created=now,
            trace=current_place(),
        )

    async def _announce(self, conn: Queries, kind: JobKind[Args], job: Job) -> None:
        await kind.effect(kind.on_enqueued, conn, job)
        await self.listener.enqueued(conn, job)

    async def cancel(self, conn: Queries, job_id: int, reason: str) -> bool:
        """Stop a job and undo what it did; it ends `cancelled` with this reason.

        False when there is nothing to stop: the job has ended or is being undone already.
        """
        job = await queries.lock(conn, job_id)
        if job is None or job.stop or job.phase == "undo":
            return False
        if job.status == "queued":
            ended = await queries.end(conn, job_id, reason, self.clock.now())
            kind = self.kinds[job.kind]
            await kind.effect(kind.on_failed, conn, ended)
            await self.listener.failed(conn, ended)
            if ended.resource is not None:
                await queries.free(conn, [ended.resource], self.clock.now())
            return True
        if job.status in ("running", "waiting"):
            # Where it is undone: the host that it waits for may be gone.
            kind = self.kinds[job.kind]
            step = kind.undoing(job.step)
            host = job.host if step is None else kind.host_of(step, job)
            await queries.flag(conn, job_id, "cancel", reason, host)
            return True
        return False

    async def move(self, conn: Queries, resource: str, host: str) -> None:
        """The resource is on that host from now on: its workers run what waits for it."""
        await queries.move(conn, resource, host)

    async def hasten(self, conn: Queries, job_id: int) -> bool:
        """Have the next attempt of a job at once; it counts like any other.

        False when the job does not wait for another attempt after a failure.
        """
        job = await queries.lock(conn, job_id)
        if job is None or job.status != "waiting" or not job.attempt:
            return False
        await queries.make_due(conn, job_id)
        return True

    async def hasten_all(self, conn: Queries, resource: str) -> None:
        """Have the jobs of a resource go on at once that wait for a time."""
        for job in await queries.lock_resource(conn, resource):
            if job.status == "waiting":
                await queries.make_due(conn, job.id)

    async def preempt(self, conn: Queries, resource: str, reason: str) -> None:
        """End all jobs of a resource as `cancelled`, without undos and without `on_failed`.

        For a deletion, which removes everything itself. What it enqueues next runs as soon as
        a step that is running now has been stopped, or its worker's lease has lapsed.
        """
        for job in await queries.lock_resource(conn, resource):
            await self._preempt(conn, job, reason)

    async def preempt_one(self, conn: Queries, job_id: int, reason: str) -> bool:
        """End one job in the same way; what comes behind it on its resource goes on.

        False when it has ended, or is about to.
        """
        job = await queries.lock(conn, job_id)
        if job is None or job.finished is not None or job.stop == "preempt":
            return False
        await self._preempt(conn, job, reason)
        if job.resource is not None:
            await queries.free(conn, [job.resource], self.clock.now())
        return True

    async def _preempt(self, conn: Queries, job: Job, reason: str) -> None:
        if job.status == "running":
            await queries.flag(conn, job.id, "preempt", reason, job.host)
        else:
            ended = await queries.end(conn, job.id, reason, self.clock.now())
            await self.listener.failed(conn, ended)

    async def busy(self, conn: Queries, *resources: str) -> bool:
        """Whether a job of any of the resources runs, waits for another attempt, or is due."""
        return await queries.is_busy(conn, resources, self.clock.now())

    async def unfinished(self, conn: Queries, *resources: str) -> list[UnfinishedJob]:
        """The jobs that make the resources busy, in the order in which they came."""
        return await queries.unfinished(conn, resources, self.clock.now())

    async def any_unfinished(self, conn: Queries, job_ids: Sequence[int]) -> bool:
        """Whether one of the jobs has not ended."""
        return await queries.any_unfinished(conn, job_ids)

    async def find(self, conn: Queries, job_id: int) -> Job | None:
        return await queries.find(conn, job_id)
