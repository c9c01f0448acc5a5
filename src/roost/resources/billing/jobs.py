"""Invoices by the clock."""

from datetime import timedelta

from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.billing import service

_SETTLED = timedelta(hours=1)
"""After the end of a month: every transaction that wrote of it has ended by then."""


async def note_prices(run: Run[JobArgs]) -> Verdict:
    """Bring prices of the catalogue that have changed into the ledger."""
    await service.note_prices(run.store, run.tools.services, run.clock.now())
    return next_step()


async def note_use(run: Run[JobArgs]) -> Verdict:
    """Bring what was used up at once into the ledger."""
    await service.note_use(run.store, run.tools.services, run.clock.now())
    return next_step()


async def invoice(run: Run[JobArgs]) -> Verdict:
    """Make the invoices of all months that have ended."""
    await service.invoice_all(run.store, run.tools.services, run.clock.now() - _SETTLED)
    return next_step()


INVOICE = JobKind(
    "invoices",
    JobArgs,
    steps=(
        Step("prices", note_prices),
        Step("use", note_use, timeout=3600),
        Step("invoice", invoice, timeout=3600),
    ),
)
EVERY_HOUR = Schedule("invoices", "10 * * * *", INVOICE, JobArgs())
