"""Reading the counters of all guests, every five minutes."""

import structlog

from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.usage import service

_log = structlog.get_logger(__name__)


async def read(run: Run[JobArgs]) -> Verdict:
    """Each region by itself: what one that is down counts meanwhile is read later."""
    for region, engine in run.get(Engines).by_region(INSTANCE_PLANE).items():
        try:
            counters = await engine.counters()
        except EngineError as error:
            _log.warning("usage_not_read", region=region, reason=str(error))
        else:
            await service.note(run.store, counters, run.clock.now())
    return next_step()


READ = JobKind(
    "usage_read",
    JobArgs,
    steps=(Step("read", read, timeout=240),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_FIVE_MINUTES = Schedule("usage_read", "*/5 * * * *", READ, JobArgs(), per_host=True)
