"""A job as its row."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from roost.jobs.verdicts import JsonObject

Status = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]
"""`waiting` is a job that has begun and is between two attempts; it keeps its resource."""

Phase = Literal["forward", "undo"]

Stop = Literal["cancel", "preempt"]

AT_ONCE = datetime.min
"""A due time before all others (PostgreSQL's -infinity), whatever the clock says."""


@dataclass(frozen=True, slots=True)
class Job:
    """One row. Times are the clock's, save for the lease, which only the database reads."""

    id: int
    kind: str
    args: JsonObject
    resource: str | None
    account_id: int | None
    event_id: int | None
    schedule: str | None
    tick: datetime | None
    """The time for which a schedule made this job."""
    status: Status
    phase: Phase
    step: str
    attempt: int
    """Failures of the current step or undo so far."""
    results: JsonObject
    """What steps left for later ones, by step name."""
    percent: int
    error: str | None
    """The last failure of the step; once undoing or ended, why the job failed."""
    undo_error: str | None
    stop: Stop | None
    stop_reason: str | None
    owner: str | None
    fence: int
    """Counts claims."""
    revision: int
    """Counts changes of the row, save for progress and lease."""
    run_at: datetime
    created: datetime
    started: datetime | None
    finished: datetime | None
    host: str
    """Whose workers may run it."""
    trace: str | None
    """Where it was enqueued (`traceparent`), if that was traced."""
