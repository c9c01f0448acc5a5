"""The watch of accounts that are late, suspended, or go on."""

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.suspension import service


async def debts(run: Run[JobArgs]) -> Verdict:
    await service.look_for_debtors(run.store, run.tools.services, run.clock.seconds())
    return next_step()


async def services(run: Run[JobArgs]) -> Verdict:
    await service.settle_all(run.store, run.tools.services)
    return next_step()


WATCH = JobKind(
    "suspensions",
    JobArgs,
    steps=(Step("debts", debts, timeout=300), Step("services", services, timeout=300)),
)
EVERY_MINUTE = Schedule("suspensions", "* * * * *", WATCH, JobArgs())
