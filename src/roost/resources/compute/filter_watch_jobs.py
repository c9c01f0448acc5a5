"""The watch of what running guests may send: what engines have lost, or could not be brought, they
get, and addresses that a job could not free are freed."""

from roost.core.fsck import Installation
from roost.core.losses import watch
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict
from roost.resources.compute.filter_fsck import is_lost, reconcilers


async def look(run: Run[JobArgs]) -> Verdict:
    """Bring every guest what the rows say, where it has something else."""
    installation = Installation(run.store, run.tools.services)
    return await watch(run, "filters_lost", reconcilers(installation), is_lost)


WATCH = JobKind(
    "filter_watch",
    JobArgs,
    steps=(Step("look", look, timeout=300),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("filter_watch", "* * * * *", WATCH, JobArgs(), per_host=True)
