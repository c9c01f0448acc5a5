"""An instance of the account: found, locked, and free for a change."""

from roost.core.context import Context
from roost.core.neighbours import Neighbours
from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries, turns
from roost.resources.compute.entity import resource_of
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus
from roost.resources.compute.turns import BUSY, Turn

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
    facts = await queries.lock(context.db, context.account_id, compute_id)
    if facts is None:
        raise not_found()
    return facts


async def lock_turn(context: Context, compute_id: int) -> tuple[InstanceFacts, Turn]:
    """The same, and behind which jobs a new one is queued.

    404, or 400 when it is being deleted, or too many jobs are waiting.
    """
    facts = await lock(context, compute_id)
    if facts.status == "deleting":
        raise invalid(BUSY)
    turn = await turns.of_instance(context.db, context.services, facts.id)
    if turn.full:
        raise invalid(BUSY)
    return facts, turn


def check_open(facts: InstanceFacts) -> None:
    """400 while a job replaces what the instance consists of: a change would be lost with that."""
    if facts.status in REPLACED:
        raise invalid(BUSY)


async def lock_idle(context: Context, compute_id: int) -> InstanceFacts:
    """The same, with nothing else on its way; 404, or 400 when it is busy."""
    facts = await lock(context, compute_id)
    await check_idle(context, facts)
    return facts


async def check_idle(context: Context, facts: InstanceFacts) -> None:
    """Only one change at a time: 400 while a job works on the instance or a volume of it."""
    busy = facts.status in UNAVAILABLE or await is_worked_on(context, facts.id)
    if busy:
        raise invalid(BUSY)


async def is_worked_on(context: Context, compute_id: int) -> bool:
    """Whether a job works on the instance or a volume of it."""
    queue = context.get(JobQueue)
    if await queue.busy(context.db, resource_of(compute_id)):
        return True
    return await context.get(Neighbours).busy(context.db, queue, compute_id)
