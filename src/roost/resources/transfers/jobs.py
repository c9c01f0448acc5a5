"""Transfers that nobody has accepted within a day, by the clock."""

from roost.core.events import log
from roost.core.events.log import Starter
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.transfers import queries
from roost.resources.transfers.queries import TRANSFER
from roost.store import Queries


async def expire(run: Run[JobArgs]) -> Verdict:
    """They are `stale`, and their senders are told."""

    async def write(db: Queries) -> None:
        for transfer in await queries.expire(db, run.clock.seconds()):
            by = Starter(run.get(JobQueue), db, transfer.account_id)
            await log.notify(by, "entity_transfer_stale", TRANSFER.entity(transfer.token))

    return next_step(write)


DUE = JobKind("entity_transfers_due", JobArgs, steps=(Step("expire", expire),))
EVERY_MINUTE = Schedule("entity_transfers_due", "* * * * *", DUE, JobArgs())
