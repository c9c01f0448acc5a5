"""The volume of a request with the instance that has it, both locked and free for a change.

Instances are locked before volumes. While a job changes the power of an instance its volumes stay
as they are, and the other way round, so that a guest never starts with half of a change.
"""

from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute.queries import InstanceFacts
from roost.resources.volumes import attaching, queries
from roost.resources.volumes.queries import VolumeFacts
from roost.web.call import Call


async def find(call: Call) -> VolumeFacts:
    """404 unless the account has it."""
    volume = await queries.find_own(call.db, call.account_id, call.number("volumeId"))
    if volume is None:
        raise not_found()
    return volume


async def lock(call: Call) -> VolumeFacts:
    """The same, which nobody else changes until the end of the transaction."""
    volume = await queries.lock(call.db, call.account_id, call.number("volumeId"))
    if volume is None:
        raise not_found()
    return volume


async def lock_idle(call: Call) -> tuple[VolumeFacts, InstanceFacts | None]:
    """The volume, and the instance that has it; 400 while a job works on either."""
    compute_id = (await find(call)).compute_id
    instance = None if compute_id is None else await attaching.lock_idle_instance(call, compute_id)
    volume = await lock(call)
    if volume.compute_id != (instance and instance.id):
        raise invalid(attaching.BUSY)  # Attached or detached while the lock was waited for.
    await attaching.check_idle(call.db, call.get(JobQueue), volume)
    return volume, instance
