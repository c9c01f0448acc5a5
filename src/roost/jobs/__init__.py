"""The durable job engine: rows with steps, leases, retries, undo, schedules."""

from roost.jobs.environment import Environment, WorkerSettings
from roost.jobs.faults import Boundary, Crash, Faults, Point
from roost.jobs.kinds import AnyKind, JobArgs, JobKind, Kinds, Retry, Step
from roost.jobs.listener import JobListener, NullListener
from roost.jobs.metrics import Metrics
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import AnySchedule, Schedule
from roost.jobs.services import Services
from roost.jobs.verdicts import Fatal, Verdict, Write, again, done, fail, next_step
from roost.jobs.worker import Worker

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
]
