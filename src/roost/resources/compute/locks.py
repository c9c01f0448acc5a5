"""Who may work on an instance now: its row, and whose turn it is (`core.turns`)."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from roost.core import instance_queries
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.core.suspensions import SUSPENDED
from roost.core.turns import QueuedArgs, Turn, begin_with
from roost.errors import invalid, not_found
from roost.jobs.kinds import Action
from roost.jobs.queries import UnfinishedJob
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict
from roost.resources.compute import queries
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.services import Services
from roost.store import Queries


def resource_of(compute_id: int) -> str:
    """The name under which jobs of an instance run one at a time."""
    return f"compute:{compute_id}"


class InstanceArgs(QueuedArgs):
    """Which instance, and who asked."""

    compute_id: int
    username: str | None = None
    config_id: int | None = None
    """What is to be booted; None: the config of the last boot."""
    shown: Literal["booting", "offline"] = "booting"
    """The status while a guest boots."""


def on_instance(args: InstanceArgs) -> str:
    """The resource of jobs on an instance."""
    return resource_of(args.compute_id)


class CreateArgs(InstanceArgs):
    booted: bool = False


BUSY = "Compute busy."
"""Clients try again on exactly this text."""

A = TypeVar("A", bound=InstanceArgs)
Begin = Callable[[Queries, Run[A]], Awaitable[None]]
Look = Callable[[InstanceFacts], Verdict | None]


async def turn_of(db: Queries, services: Services, compute_id: int) -> Turn:
    """The turn of a new job of an instance, which the caller holds."""
    return Turn.behind(await jobs_on(db, services, compute_id), resource_of(compute_id))


async def jobs_on(db: Queries, services: Services, compute_id: int) -> list[UnfinishedJob]:
    """Those of an instance, of its neighbours, and of clones that are being made of any."""
    clones = await clones_of(db, compute_id)
    held = await services.get(Neighbours).resources(db, compute_id)
    return await services.get(JobQueue).unfinished(db, resource_of(compute_id), *clones, *held)


async def clones_of(db: Queries, compute_id: int) -> list[str]:
    """The resources of clones that are being made of an instance."""
    return [resource_of(each) for each in await queries.clones(db, compute_id)]


def begin(look: Look, show: Begin[A]) -> Action[A]:
    """The first step of a job on an instance that may have been queued, see `begin_with`."""

    async def find(run: Run[A]) -> InstanceFacts | None:
        return await instance_queries.find(run.store, run.args.compute_id)

    return begin_with(find, look, show)


UNAVAILABLE: tuple[InstanceStatus, ...] = ("deleting", "cloning")
"""What nothing else that is not queued may begin in: the job of a clone is its target's, and works
on its source."""

REPLACED: tuple[InstanceStatus, ...] = ("deleting", "rebuilding", "restoring")
"""In which a job removes the disks and configs that there are."""


async def check_exists(context: Context, compute_id: int) -> int:
    """The id; 404 unless it is that of an instance of the account."""
    if not await queries.exists(context.db, context.account_id, compute_id):
        raise not_found()
    return compute_id


async def lock(context: Context, compute_id: int) -> InstanceFacts:
    """The instance, which nobody else changes until the end of the transaction; 404."""
    facts = await instance_queries.lock(context.db, context.account_id, compute_id)
    if facts is None:
        raise not_found()
    return facts


async def lock_turn(context: Context, compute_id: int) -> tuple[InstanceFacts, Turn]:
    """Lock an instance, and tell behind which jobs a new one is queued.

    404, or 400 when it is being deleted, or too many jobs are waiting.
    """
    facts = await lock(context, compute_id)
    return facts, await find_turn(context, facts)


async def find_turn(context: Context, facts: InstanceFacts) -> Turn:
    """Behind which jobs a new one of an instance is queued that is locked already."""
    _check_awake(facts)
    if facts.status == "deleting":
        raise invalid(BUSY)
    turn = await turn_of(context.db, context.services, facts.id)
    if turn.full:
        raise invalid(BUSY)
    return turn


def check_open(facts: InstanceFacts) -> None:
    """400 while a job replaces what the instance consists of, with which a change would be lost, or
    moves it to another region, of which the change would have to be; and while it rests."""
    _check_awake(facts)
    if facts.status in REPLACED or facts.target_region or facts.target_host:
        raise invalid(BUSY)


async def lock_idle(context: Context, compute_id: int) -> InstanceFacts:
    """Lock an instance that nothing else works on; 404, or 400 when it is busy."""
    facts = await lock(context, compute_id)
    await check_idle(context, facts)
    return facts


async def check_idle(context: Context, facts: InstanceFacts) -> None:
    """Only one change at a time: 400 while a job works on the instance or a volume of it."""
    _check_awake(facts)
    busy = facts.status in UNAVAILABLE or await is_worked_on(context, facts.id)
    if busy:
        raise invalid(BUSY)


def _check_awake(facts: InstanceFacts) -> None:
    """400 while it rests as its account is suspended."""
    if facts.status == "billing_suspension":
        raise invalid(SUSPENDED)


async def is_worked_on(context: Context, compute_id: int) -> bool:
    """Whether a job works on the instance or a volume of it."""
    queue = context.get(JobQueue)
    if await queue.busy(context.db, resource_of(compute_id)):
        return True
    return await context.get(Neighbours).busy(context.db, queue, compute_id)


async def facts_of(run: Run[InstanceArgs]) -> InstanceFacts:
    """Raises Fatal when the instance is gone."""
    facts = await instance_queries.find(run.store, run.args.compute_id)
    if facts is None:
        raise Fatal("The instance is gone.")
    return facts


def engine_of(run: Run[InstanceArgs], facts: InstanceFacts) -> InstanceEngine:
    return run.get(Engines).on_host(INSTANCE_PLANE, facts)
