"""The watch of firewalls: what engines have lost, or could not be brought, they get.

A host that was down has no rules. Guests get theirs before they start; what is behind the same
firewall and runs already, and what failed, gets them from here.
"""

from contextlib import suppress

from roost.core.engine import EngineError
from roost.core.fsck import Installation
from roost.core.losses import Losses, watch
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict
from roost.resources.firewalls.fsck import is_lost, reconcilers


async def look(run: Run[JobArgs]) -> Verdict:
    """Bring every engine what the rows say, where it has something else."""
    found = reconcilers(Installation(run.store, run.tools.services))
    had = run.tools.services.get(Losses).firewalls
    known = frozenset[int]().union(*had.values())
    verdict = await watch(
        run, "firewalls_lost", found, lambda case: case.key in known and is_lost(case)
    )
    for region, firewalls in found.items():
        with suppress(EngineError):
            had[region] = frozenset(await firewalls.held())
    return verdict


WATCH = JobKind(
    "firewall_watch",
    JobArgs,
    steps=(Step("look", look, timeout=300),),
    retry=Retry(attempts=2),
    deadline=300,
)

EVERY_MINUTE = Schedule("firewall_watch", "* * * * *", WATCH, JobArgs(), per_host=True)
