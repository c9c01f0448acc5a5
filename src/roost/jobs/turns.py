"""Jobs that wait for others of other resources: a volume's for those of its instance.

Jobs of one resource run one after the other anyhow. What a job has to wait for beside them is in
its arguments: jobs that were there before it, so that no two ever wait for each other.
"""

from typing import TypeVar

from roost.jobs.kinds import Action, JobArgs
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Again, Verdict

_SHORTEST, _LONGEST = 0.05, 2.0
_PART = 8
"""The longer a job has waited, the more seldom it looks."""


class TurnArgs(JobArgs):
    """What a job's turn depends on."""

    after: tuple[int, ...] = ()
    """Jobs of other resources that come first."""


Args = TypeVar("Args", bound=TurnArgs)


def in_turn(action: Action[Args]) -> Action[Args]:
    """A step's action that waits until all jobs have ended that come first."""

    async def act(run: Run[Args]) -> Verdict:
        return await awaited(run) or await action(run)

    return act


async def awaited(run: Run[TurnArgs]) -> Again | None:
    """`again` while a job that comes first has not ended."""
    if not run.args.after:
        return None
    if not await run.get(JobQueue).any_unfinished(run.store, run.args.after):
        return None
    begun = run.job.started or run.job.created
    waited = (run.clock.now() - begun).total_seconds()
    return Again(min(max(waited / _PART, _SHORTEST), _LONGEST), None)
