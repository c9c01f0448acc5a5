"""Keeping the numbers of rows short, which triggers write down change by change."""

from roost.core.entities import queries
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step


async def _fold(run: Run[JobArgs]) -> Verdict:
    await queries.fold_counts(run.store)
    return next_step()


FOLD = JobKind("row_count_fold", JobArgs, steps=(Step("fold", _fold),))

EVERY_TEN_MINUTES = Schedule("row_count_fold", "3-59/10 * * * *", FOLD, JobArgs())
