"""What the hosts of regions have, asked for every minute: no request waits for an engine."""

import structlog

from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute.engine import EngineError
from roost.resources.compute.guest import InstanceEngines
from roost.resources.limits.queries import measure

_log = structlog.get_logger(__name__)


class CapacityArgs(JobArgs):
    """Every region."""


async def look(run: Run[CapacityArgs]) -> Verdict:
    """Keep what each engine says; of one that says nothing, what it said before."""
    for region, engine in run.get(InstanceEngines).by_region.items():
        try:
            capacity = await engine.capacity()
        except EngineError as error:
            _log.warning("compute_capacity_failed", region=region, reason=str(error))
            continue
        figures = None if capacity is None else (capacity.memory, capacity.storage, capacity.free)
        await measure(run.store, region, figures, run.get(JobQueue).clock.now())
    return next_step()


CAPACITY = JobKind(
    "compute_capacity",
    CapacityArgs,
    steps=(Step("look", look),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("compute_capacity", "* * * * *", CAPACITY, CapacityArgs())
