"""What becomes of a job: pure functions from its row to the next one."""

from dataclasses import replace
from datetime import datetime, timedelta

from roost.jobs.kinds import AnyKind
from roost.jobs.model import AT_ONCE, Job, Status
from roost.jobs.verdicts import Again, JsonObject


def advance(job: Job, kind: AnyKind, result: JsonObject | None, now: datetime) -> Job:
    """The step has done its work."""
    results = job.results if result is None else {**job.results, job.step: dict(result)}
    following = kind.after(job.step)
    if following is None:
        return succeed(job, now, results)
    return replace(job, step=following.name, attempt=0, error=None, results=results)


def succeed(job: Job, now: datetime, results: JsonObject | None = None) -> Job:
    """`results`: where the last step has left one."""
    kept = job.results if results is None else results
    return replace(job, status="done", percent=100, error=None, finished=now, results=kept)


def wait(job: Job, again: Again, now: datetime) -> Job:
    """The step asks to be called again; that is not a failure."""
    attempt = 0 if again.attempted else job.attempt
    run_at = now + timedelta(seconds=again.after)
    return replace(job, status="waiting", attempt=attempt, run_at=run_at)


def retry(job: Job, reason: str, seconds: float, now: datetime) -> Job:
    """The step or undo has failed, but not for good."""
    failed = replace(job, attempt=job.attempt + 1)
    if job.phase == "undo":
        return _until(replace(failed, undo_error=reason), seconds, now)
    return _until(replace(failed, error=reason), seconds, now)


def _until(job: Job, seconds: float, now: datetime) -> Job:
    return replace(job, status="waiting", run_at=now + timedelta(seconds=seconds))


def hand_over(job: Job, host: str) -> Job:
    """The workers of another host are to go on with it at once; that is not a failure."""
    return replace(job, status="waiting", run_at=AT_ONCE, host=host)


def undo(job: Job, reason: str) -> Job:
    """The job has failed: begin with the undo of the step in which it is."""
    return replace(job, phase="undo", attempt=0, error=reason)


def undone(job: Job, kind: AnyKind, now: datetime) -> Job:
    """The undo of the current step has done its work, or there is none."""
    step = kind.undoing(job.step)
    earlier = kind.before(step.name) if step else None
    if earlier is None:
        return end(job, now)
    return replace(job, step=earlier.name, attempt=0, undo_error=None)


def end(job: Job, now: datetime, undo_error: str | None = None) -> Job:
    """The job ends badly; `undo_error` says why something could not be taken back."""
    status: Status = "cancelled" if job.stop and undo_error is None else "failed"
    return replace(job, status=status, undo_error=undo_error, finished=now)


def preempt(job: Job, now: datetime) -> Job:
    return replace(job, status="cancelled", error=job.stop_reason, finished=now)
