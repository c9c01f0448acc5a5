"""The watch of what running guests may send: what engines have lost, or could not be brought, they
get, and addresses that a job could not free are freed."""

from contextlib import suppress

import structlog

from roost.core.engine import EngineError
from roost.core.fsck import Installation
from roost.core.reconcile import ChangedError
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute.filter_fsck import Filters, reconcilers

_log = structlog.get_logger(__name__)


async def look(run: Run[JobArgs]) -> Verdict:
    """Bring every guest what the rows say, where it has something else."""
    installation = Installation(run.store, run.tools.services)
    for region, filters in reconcilers(installation).items():
        try:
            async for compute_id in filters.suspects():
                await _set_right(filters, compute_id)
        except EngineError as error:
            _log.warning("filter_watch_failed", region=region, reason=str(error))
    return next_step()


async def _set_right(filters: Filters, compute_id: int) -> None:
    with suppress(ChangedError):
        case = await filters.examine(compute_id)
        if case is not None:
            await filters.mend(case)


WATCH = JobKind(
    "filter_watch",
    JobArgs,
    steps=(Step("look", look, timeout=300),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("filter_watch", "* * * * *", WATCH, JobArgs(), per_host=True)
