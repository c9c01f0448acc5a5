"""The nightly job that forgets logins (spec B, Limits: 90 days)."""

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, next_step
from roost.resources.logins import queries

_BATCH = 1000


async def _delete(run: Run[JobArgs]) -> Verdict:
    before = run.clock.now() - queries.KEPT
    deleted = await queries.delete_old(run.store, before, _BATCH)
    return again(0) if deleted == _BATCH else next_step()


RETENTION = JobKind("login_retention", JobArgs, steps=(Step("delete", _delete),))

NIGHTLY = Schedule("login_retention", "47 3 * * *", RETENTION, JobArgs())
