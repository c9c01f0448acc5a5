"""The nightly job that forgets what tokens were used for."""

from datetime import timedelta

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, again, next_step
from roost.resources.tokens import usage_queries as queries

KEPT = timedelta(days=30)
"""As far back as `roost token suggest` looks."""

_BATCH = 1000


async def _delete(run: Run[JobArgs]) -> Verdict:
    before = (run.clock.now() - KEPT).date()
    deleted = await queries.delete_old_uses(run.store, before, _BATCH)
    return again(0) if deleted == _BATCH else next_step()


RETENTION = JobKind("token_use_retention", JobArgs, steps=(Step("delete", _delete),))

NIGHTLY = Schedule("token_use_retention", "57 3 * * *", RETENTION, JobArgs())
