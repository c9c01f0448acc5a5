"""The watch of canceled accounts: what was being made as they were canceled ends too."""

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.cancellation import service
from roost.store import Queries


async def look(run: Run[JobArgs]) -> Verdict:
    """Begin again with accounts that have something, where no job works on them."""
    found = await service.unended(run.store, run.tools.services)

    async def write(db: Queries) -> None:
        for account_id in found:
            await service.start(db, run.get(JobQueue), account_id)

    return next_step(write)


WATCH = JobKind("accounts_close", JobArgs, steps=(Step("look", look, timeout=120),))
EVERY_TEN_MINUTES = Schedule("accounts_close", "4-59/10 * * * *", WATCH, JobArgs())
