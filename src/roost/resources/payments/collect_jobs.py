"""Charging invoices to the cards on file, by the clock."""

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.payments import collect_service


async def collect(run: Run[JobArgs]) -> Verdict:
    """Begin a payment for each account with an invoice that nobody has tried to charge, and for
    those whose card was declined some days ago."""
    await collect_service.collect(run.store, run.tools.services, run.clock.seconds())
    return next_step()


async def tell(run: Run[JobArgs]) -> Verdict:
    """Write to accounts whose card was declined."""
    await collect_service.tell(run.store, run.tools.services)
    return next_step()


COLLECT = JobKind(
    "payments_collect",
    JobArgs,
    steps=(Step("collect", collect, timeout=600), Step("tell", tell, timeout=600)),
)
EVERY_HOUR = Schedule("payments_collect", "25 * * * *", COLLECT, JobArgs())
"""After the invoices."""
