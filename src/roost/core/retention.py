"""Forgetting what is old: one declaration for each group, run as a job every night."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, next_step
from roost.store import Queries

BATCH = 1000
"""Rows that are deleted at once, so that nobody waits long for their locks."""

DeleteOld = Callable[[Queries, datetime, int], Awaitable[int]]
"""Deletes at most so many rows from before a time (UTC); returns how many."""


@dataclass(frozen=True, slots=True)
class Old:
    """Rows that are kept for a while."""

    delete: DeleteOld
    kept: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Retention:
    """A job kind and the schedule that runs it; both have the same name."""

    kind: JobKind[JobArgs]
    nightly: Schedule[JobArgs]


def retention(name: str, cron: str, *olds: Old) -> Retention:
    """Deletes batch after batch until nothing of any of them is older than it may be."""

    async def delete(run: Run[JobArgs]) -> Verdict:
        now = run.clock.now()
        deleted = [await old.delete(run.store, now - old.kept, BATCH) for old in olds]
        return again(0) if BATCH in deleted else next_step()

    kind = JobKind(name, JobArgs, steps=(Step("delete", delete),))
    return Retention(kind, Schedule(name, cron, kind, JobArgs()))
