"""A volume of the account with the instance that has it, both locked.

Instances are locked before volumes. While a job changes the power of an instance, jobs on its
volumes wait, and the other way round, so that a guest never starts with half of a change.
"""

from roost.core.context import Context
from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as computes
from roost.resources.compute.locks import Turn
from roost.resources.compute.queries import InstanceFacts
from roost.resources.volumes import attaching, queries
from roost.resources.volumes.queries import VolumeFacts


async def find(context: Context, volume_id: int) -> VolumeFacts:
    """404 unless the account has it."""
    volume = await queries.find_own(context.db, context.account_id, volume_id)
    if volume is None:
        raise not_found()
    return volume


async def lock(context: Context, volume_id: int) -> VolumeFacts:
    """The same, which nobody else changes until the end of the transaction."""
    volume = await queries.lock(context.db, context.account_id, volume_id)
    if volume is None:
        raise not_found()
    return volume


async def lock_turn(
    context: Context, volume_id: int, *, own: bool = True
) -> tuple[VolumeFacts, InstanceFacts | None, Turn]:
    """The volume, the instance that has it, and behind which jobs on either a new one is queued.

    `own`: whether the job is to be the volume's; see `attaching.find_turn`. 400 when a job has
    left the volume unfinished.
    """
    compute_id = (await find(context, volume_id)).compute_id
    instance = None
    if compute_id is not None:
        instance = await computes.lock(context.db, context.account_id, compute_id)
    volume = await lock(context, volume_id)
    if volume.compute_id != (instance and instance.id):
        raise invalid(attaching.BUSY)  # Attached or detached while the lock was waited for.
    queue = context.get(JobQueue)
    turn = await attaching.find_turn(context.db, queue, volume.id, volume.compute_id, own=own)
    attaching.check_active(volume, turn)
    return volume, instance, turn
