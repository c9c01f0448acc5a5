"""The durable job engine: rows with steps, leases, retries, undo, schedules.

- A job is one row. A step's outcome, the rows it changes and what listeners write are one
  transaction, fenced by owner, claim and revision of the row.
- Steps and undos run at least once, so whatever they do outside the database is idempotent.
- One job at a time per resource, first come first served. A job that waits for another attempt
  keeps its resource: those behind it wait too.
- A worker that is silent for a lease is replaced; that counts as a failed attempt of the step.
- Due times and cron ticks follow the clock that a lab moves, leases the database's.
"""

from roost.jobs.environment import Environment, WorkerSettings
from roost.jobs.faults import Boundary, Crash, Faults, Point
from roost.jobs.kinds import AnyKind, JobArgs, JobKind, Kinds, Retry, Step
from roost.jobs.listener import JobListener, NullListener
from roost.jobs.metrics import Metrics
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import AnySchedule, Schedule
from roost.jobs.verdicts import Fatal, Verdict, Write, again, done, fail, next_step, writing
from roost.jobs.worker import Worker
from roost.services import Services

__all__ = [
    "AnyKind",
    "AnySchedule",
    "Boundary",
    "Crash",
    "Environment",
    "Fatal",
    "Faults",
    "Job",
    "JobArgs",
    "JobKind",
    "JobListener",
    "JobQueue",
    "Kinds",
    "Metrics",
    "NullListener",
    "Point",
    "Retry",
    "Run",
    "Schedule",
    "Services",
    "Step",
    "Verdict",
    "Worker",
    "WorkerSettings",
    "Write",
    "again",
    "done",
    "fail",
    "next_step",
    "writing",
]
