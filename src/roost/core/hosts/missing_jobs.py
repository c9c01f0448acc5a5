"""Whether a host has on its disks what another one had, before it takes that over.

kind           while it runs    done
host_missing   (no status)      the result says what is not there
"""

from roost.core.hosts.holdings import Holdings
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict, next_step

STEP = "look"


class MissingArgs(JobArgs):
    """Whose rows; the host that looks is the job's."""

    host: str


async def _look(run: Run[MissingArgs]) -> Verdict:
    """Changes nothing."""
    holdings, engines = run.get(Holdings), run.get(Engines)
    missing = await holdings.missing(run.store, engines, run.args.host)
    return next_step(result={"missing": [*missing]})


MISSING = JobKind("host_missing", MissingArgs, steps=(Step(STEP, _look),))
