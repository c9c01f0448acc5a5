"""Whose turn it is: what follows work on an instance that is still under way is queued behind it.

Clients do not try again when they are told that something is busy. A job that was queued looks at
the instance again when its turn comes, and only then shows what it does.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from roost.core.neighbours import Neighbours
from roost.jobs.kinds import Action, Effect
from roost.jobs.model import Job
from roost.jobs.queries import Waiting
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.turns import awaited
from roost.jobs.verdicts import Verdict, next_step, writing
from roost.resources.compute import queries
from roost.resources.compute.args import InstanceArgs
from roost.resources.compute.entity import resource_of
from roost.resources.compute.lifecycle import clone_queries
from roost.resources.compute.queries import InstanceFacts
from roost.services import Services
from roost.store import Queries

BUSY = "Compute busy."
"""Clients try again on exactly this text."""

MAX_WAITING = 24
"""Jobs of an instance and of its volumes, behind which nothing more is queued."""

BEGIN = "begin"
"""The step in which a job looks whether it can still do what was asked for."""

A = TypeVar("A", bound=InstanceArgs)
Begin = Callable[[Queries, Run[A]], Awaitable[None]]
Look = Callable[[InstanceFacts], Verdict | None]


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
    def behind(cls, jobs: Sequence[Waiting], own: str) -> "Turn":
        """Behind these jobs; those of the `own` resource are waited for anyhow."""
        after = tuple(job.id for job in jobs if job.resource != own)
        return cls(bool(jobs), after, len(jobs) >= MAX_WAITING)


FIRST = Turn()


async def of_instance(db: Queries, services: Services, compute_id: int) -> Turn:
    """The turn of a new job of an instance, which the caller holds."""
    return Turn.behind(await jobs_on(db, services, compute_id), resource_of(compute_id))


async def jobs_on(db: Queries, services: Services, compute_id: int) -> list[Waiting]:
    """Those of an instance, of its neighbours, and of clones that are being made of any."""
    clones = await clones_of(db, compute_id)
    held = await services.get(Neighbours).resources(db, compute_id)
    return await services.get(JobQueue).unfinished(db, resource_of(compute_id), *clones, *held)


async def clones_of(db: Queries, compute_id: int) -> list[str]:
    """The resources of clones that are being made of an instance."""
    return [resource_of(each) for each in await clone_queries.clones(db, compute_id)]


def begin(look: Look, show: Begin[A]) -> Action[A]:
    """The first step of a job that may have been queued.

    `look` says how the job ends when there is nothing to do any more, and raises Fatal when it
    cannot be done; `show` writes the status that the instance has from now on.
    """

    async def act(run: Run[A]) -> Verdict:
        if not run.args.queued:
            return next_step()
        waits = await awaited(run)
        facts = None if waits else await queries.find(run.store, run.args.compute_id)
        if waits or facts is None:
            return waits or next_step()
        ended = look(facts)
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
