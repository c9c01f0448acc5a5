"""What follows work that is still under way: queued behind it, and begun when its turn has come.

Clients do not try again when they are told that something is busy. A job that was queued looks at
its thing again when its turn comes, and only then shows what it does.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from roost.jobs.kinds import Action, Effect
from roost.jobs.model import Job
from roost.jobs.queries import UnfinishedJob
from roost.jobs.run import Run
from roost.jobs.turns import TurnArgs, awaited
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.store import Queries

MAX_WAITING = 24
"""Jobs of a thing and of what hangs on it, behind which nothing more is queued."""

BEGIN = "begin"
"""The step in which a job looks whether it can still do what was asked for."""


class QueuedArgs(TurnArgs):
    """The arguments of a job that may follow others."""

    queued: bool = False
    """Whether other work was under way when the job was enqueued."""


A = TypeVar("A", bound=QueuedArgs)
F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a new job stands."""

    queued: bool = False
    """Behind others, of its own resource or those of `after`."""
    after: tuple[int, ...] = ()
    """Jobs of other resources that come before it."""
    full: bool = False
    """Whether so many are waiting that nothing more should be queued."""

    @classmethod
    def behind(cls, jobs: Sequence[UnfinishedJob], own: str) -> "Turn":
        """Behind these jobs; those of the `own` resource are waited for anyhow."""
        after = tuple(job.id for job in jobs if job.resource != own)
        return cls(bool(jobs), after, len(jobs) >= MAX_WAITING)


FIRST = Turn()


def begin_with(
    find: Callable[[Run[A]], Awaitable[F | None]],
    look: Callable[[F], Verdict | None],
    show: Callable[[Queries, Run[A]], Awaitable[None]],
) -> Action[A]:
    """The first step of a job that may have been queued.

    `find` reads the job's thing, `look` says how the job ends when there is nothing to do any
    more, and raises Fatal when it cannot be done; `show` writes the status that the thing has from
    now on.
    """

    async def act(run: Run[A]) -> Verdict:
        if not run.args.queued:
            return next_step()
        waits = await awaited(run)
        found = None if waits else await find(run)
        if waits or found is None:
            return waits or next_step()
        ended = look(found)
        return ended or next_step(writing(show, run))

    return act


def at_once(effect: Effect[A]) -> Effect[A]:
    """What a job that is queued does only when it begins."""

    async def act(db: Queries, job: Job, args: A) -> None:
        if not args.queued:
            await effect(db, job, args)

    return act


def begun(effect: Effect[A]) -> Effect[A]:
    """What the end of a job does, unless it was queued and never began."""

    async def act(db: Queries, job: Job, args: A) -> None:
        if not (args.queued and job.step == BEGIN):
            await effect(db, job, args)

    return act
