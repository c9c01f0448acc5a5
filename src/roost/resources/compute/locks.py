"""The instance of a request: found, locked, and free for a change."""

from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries
from roost.resources.compute.entity import resource_of
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus
from roost.resources.compute.volumes import InstanceVolumes
from roost.web.call import Call

BUSY = "Compute busy."
"""Clients try again on exactly this text."""

UNAVAILABLE: tuple[InstanceStatus, ...] = ("deleting", "cloning")
"""What nothing else may begin in: the job of a clone is its target's, and works on its source."""


async def check_exists(call: Call) -> int:
    """The id in the path; 404 unless it is an instance of the account."""
    compute_id = call.number("computeId")
    if not await queries.exists(call.db, call.account_id, compute_id):
        raise not_found()
    return compute_id


async def lock(call: Call) -> InstanceFacts:
    """The instance, which nobody else changes until the end of the transaction; 404."""
    facts = await queries.lock(call.db, call.account_id, call.number("computeId"))
    if facts is None:
        raise not_found()
    return facts


async def lock_idle(call: Call) -> InstanceFacts:
    """The same, with nothing else on its way; 404, or 400 when it is busy."""
    facts = await lock(call)
    await check_idle(call, facts)
    return facts


async def check_idle(call: Call, facts: InstanceFacts) -> None:
    """Only one change at a time: 400 while a job works on the instance or a volume of it."""
    busy = facts.status in UNAVAILABLE or await is_worked_on(call, facts.id)
    if busy:
        raise invalid(BUSY)


async def is_worked_on(call: Call, compute_id: int) -> bool:
    """Whether a job works on the instance or a volume of it."""
    if await call.get(JobQueue).busy(call.db, resource_of(compute_id)):
        return True
    return await call.get(InstanceVolumes).busy(call.db, compute_id)
