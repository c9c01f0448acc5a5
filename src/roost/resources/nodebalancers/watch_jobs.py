"""What the clock does with a host's NodeBalancers: keep them serving, look at their nodes, count.

A host that was down serves nothing; what its engine lacks then, and what failed, it gets from here.
"""

import structlog

from roost.core.engine import EngineError
from roost.core.fsck import Installation
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.nodebalancers import node_queries, usage_service
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.nodebalancers.fsck import reconcilers

_log = structlog.get_logger(__name__)


async def look(run: Run[JobArgs]) -> Verdict:
    """Each region by itself."""
    for region, each in reconcilers(Installation(run.store, run.tools.services)).items():
        try:
            await each.engine.keep_serving()
            async for case, fault in each.mend_each():
                reason = None if fault is None else str(fault)
                what = each.describe(case)
                _log.warning("nodebalancer_mended", region=region, difference=what, fault=reason)
            await node_queries.set_statuses(run.store, await each.engine.statuses())
        except EngineError as error:
            _log.warning("nodebalancers_not_seen", region=region, reason=str(error))
    return next_step()


WATCH = JobKind(
    "nodebalancer_watch",
    JobArgs,
    steps=(Step("look", look),),
    retry=Retry(attempts=2),
    deadline=120,
)


async def read(run: Run[JobArgs]) -> Verdict:
    """What a region that is down counts meanwhile is read later."""
    engines = run.get(Engines)
    for region, engine in engines.by_region(BALANCER_PLANE).items():
        try:
            seen = await engine.traffic()
        except EngineError as error:
            _log.warning("nodebalancers_not_read", region=region, reason=str(error))
        else:
            await usage_service.note(run.store, engines.host, seen, run.clock.now())
    return next_step()


READ = JobKind(
    "nodebalancer_read",
    JobArgs,
    steps=(Step("read", read),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("nodebalancer_watch", "* * * * *", WATCH, JobArgs(), per_host=True)
EVERY_FIVE_MINUTES = Schedule("nodebalancer_read", "*/5 * * * *", READ, JobArgs(), per_host=True)
