"""Jobs as the operator sees and stops them: by the transitions that workers use."""

from roost.app.all_groups import all_groups
from roost.app.terminal import Shown, fields
from roost.clock import Clock
from roost.core.events.log import EventListener
from roost.errors import OperatorError
from roost.jobs import queries
from roost.jobs.kinds import AnyKind
from roost.jobs.listing_queries import Wanted, list_jobs
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.store import Connection, Queries, Store

REASON = "canceled by the operator"

_OVER = ("done", "failed", "cancelled")


class JobError(OperatorError):
    """The job is not there, or nothing of the kind can be done with it."""


async def describe(db: Queries, job_id: int) -> Shown:
    """With the steps of its kind. Raises JobError."""
    found = await list_jobs(db, Wanted(job_id=job_id, limit=1))
    if not found:
        raise _no_job(job_id)
    kind = next((each for each in all_groups().jobs if each.name == found[0].kind), None)
    steps = [] if kind is None else [step.name for step in kind.steps]
    tries = None if kind is None else kind.retry_of(found[0].step).attempts
    return {**fields(found[0]), "attempts_at_most": tries, "steps": steps}


async def retry(store: Store, clock: Clock, job_id: int) -> None:
    """Have the next attempt of a job that has failed for now at once. Raises JobError."""
    queue = _queue(clock)

    async def work(db: Connection) -> None:
        if await queue.hasten(db, job_id):
            return
        job = await _find(db, job_id)
        raise JobError(f"job {job_id} {_unretried(job)}")

    await store.commit(work)


async def cancel(store: Store, clock: Clock, job_id: int) -> str:
    """Stop a job and have undone what it did; returns what becomes of it. Raises JobError."""
    queue = _queue(clock)

    async def work(db: Connection) -> str:
        job = await _find(db, job_id)
        _check_cancel(job, queue.kinds.by_name.get(job.kind))
        if not await queue.cancel(db, job_id, REASON):
            raise JobError(f"job {job_id} {_uncanceled(await _find(db, job_id))}")
        changed = await _find(db, job_id)
        if changed.status in _OVER:
            return f"job {job_id} is canceled"
        return f"job {job_id} is being stopped and undone"

    return await store.commit(work)


def _queue(clock: Clock) -> JobQueue:
    return JobQueue(all_groups().jobs, clock, EventListener(clock))


async def _find(db: Queries, job_id: int) -> Job:
    job = await queries.find(db, job_id)
    if job is None:
        raise _no_job(job_id)
    return job


def _no_job(job_id: int) -> JobError:
    return JobError(f"there is no job {job_id}")


def _check_cancel(job: Job, kind: AnyKind | None) -> None:
    if kind is None:
        raise JobError(f"job {job.id} is of the kind {job.kind}, which this release does not know")
    if job.account_id is None:
        raise JobError(f"job {job.id} ({job.kind}) is Roost's own, and belongs to no account")
    if kind.on_failed is None and not any(step.undo for step in kind.steps):
        raise JobError(f"job {job.id} cannot be canceled: nothing undoes a {job.kind}")


def _unretried(job: Job) -> str:
    if job.status == "failed":
        return "has failed, and what it did was undone: ask for the same thing again"
    if job.status in _OVER:
        return f"is {_spelled(job)} already"
    if job.status == "queued":
        return "is queued and has not been tried yet"
    if job.status == "running":
        return "is being tried at this moment"
    return "waits, but not because it failed"


def _uncanceled(job: Job) -> str:
    if job.status in _OVER:
        return f"is {_spelled(job)} already"
    return "is being stopped or undone already"


def _spelled(job: Job) -> str:
    return "canceled" if job.status == "cancelled" else job.status
