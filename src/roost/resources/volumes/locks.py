"""The volume of a request with the instance that has it, both locked.

Instances are locked before volumes. While a job changes the power of an instance, jobs on its
volumes wait, and the other way round, so that a guest never starts with half of a change.
"""

from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as computes
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.turns import Turn
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


async def lock_turn(
    call: Call, *, own: bool = True
) -> tuple[VolumeFacts, InstanceFacts | None, Turn]:
    """The volume, the instance that has it, and behind which jobs on either a new one is queued.

    `own`: whether the job is to be the volume's; see `attaching.find_turn`. 400 when a job has
    left the volume unfinished.
    """
    compute_id = (await find(call)).compute_id
    instance = None
    if compute_id is not None:
        instance = await computes.lock(call.db, call.account_id, compute_id)
    volume = await lock(call)
    if volume.compute_id != (instance and instance.id):
        raise invalid(attaching.BUSY)  # Attached or detached while the lock was waited for.
    queue = call.get(JobQueue)
    turn = await attaching.find_turn(call.db, queue, volume.id, volume.compute_id, own=own)
    attaching.check_active(volume, turn)
    return volume, instance, turn
