"""The watch of firewalls: what engines have lost, or could not be brought, they get.

A host that was down has no rules. Guests get theirs before they start; what is behind the same
firewall and runs already, and what failed, gets them from here.
"""

from contextlib import suppress

import structlog

from roost.core.engine import EngineError
from roost.core.fsck import Installation
from roost.core.reconcile import ChangedError
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.firewalls.fsck import Firewalls, reconcilers

_log = structlog.get_logger(__name__)


async def look(run: Run[JobArgs]) -> Verdict:
    """Bring every engine what the rows say, where it has something else."""
    installation = Installation(run.store, run.tools.services)
    for region, firewalls in reconcilers(installation).items():
        try:
            async for firewall_id in firewalls.suspects():
                await _set_right(firewalls, firewall_id)
        except EngineError as error:
            _log.warning("firewall_watch_failed", region=region, reason=str(error))
    return next_step()


async def _set_right(firewalls: Firewalls, firewall_id: int) -> None:
    with suppress(ChangedError):
        case = await firewalls.examine(firewall_id)
        if case is not None:
            await firewalls.mend(case)


WATCH = JobKind(
    "firewall_watch",
    JobArgs,
    steps=(Step("look", look, timeout=300),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("firewall_watch", "* * * * *", WATCH, JobArgs(), per_host=True)
