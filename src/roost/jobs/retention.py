"""The built-in job that forgets old jobs."""

from datetime import timedelta

from roost.jobs import upkeep_queries
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, again, next_step

_BATCH = 1000


class RetentionArgs(JobArgs):
    """Jobs that ended more than `days` ago are deleted."""

    days: int


async def _delete(run: Run[RetentionArgs]) -> Verdict:
    before = run.clock.now() - timedelta(days=run.args.days)
    deleted = await upkeep_queries.delete_finished(run.store, before, _BATCH)
    return again(0) if deleted == _BATCH else next_step()


RETENTION = JobKind(
    name="job_retention",
    args=RetentionArgs,
    steps=(Step("delete", _delete),),
)
