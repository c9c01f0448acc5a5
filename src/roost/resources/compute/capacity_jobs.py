"""What the hosts of regions have, asked for every minute: no request waits for an engine."""

import structlog

from roost.core.engine import EngineError, Host
from roost.core.limits.queries import measure
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute.engine import INSTANCE_PLANE

_MB = 1024**2

_log = structlog.get_logger(__name__)


class CapacityArgs(JobArgs):
    """Every region."""


async def look(run: Run[CapacityArgs]) -> Verdict:
    """Keep what each engine says; of one that says nothing, what it said before."""
    for region, engine in run.get(Engines).by_region(INSTANCE_PLANE).items():
        try:
            host = await engine.host()
        except EngineError as error:
            _log.warning("compute_capacity_failed", region=region, reason=str(error))
            continue
        figures = None if host is None else _megabytes(host)
        await measure(run.store, region, figures, run.get(JobQueue).clock.now())
    return next_step()


def _megabytes(host: Host) -> tuple[int, int, int]:
    """Memory, storage and what is free of that, where guests are."""
    storage = host.folders[0]
    return host.memory // _MB, storage.size // _MB, storage.free // _MB


CAPACITY = JobKind(
    "compute_capacity",
    CapacityArgs,
    steps=(Step("look", look),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("compute_capacity", "* * * * *", CAPACITY, CapacityArgs())
