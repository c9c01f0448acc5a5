"""Volumes that leave an instance without a job of their own."""

from dataclasses import replace

from roost.core import instance_queries
from roost.core.events import log
from roost.jobs.queue import JobQueue
from roost.resources.volumes.queries import VOLUME, VolumeFacts
from roost.resources.volumes.steps import take_from_instance
from roost.store import Queries


async def release(db: Queries, queue: JobQueue, volume: VolumeFacts, compute_id: int) -> None:
    """The instance's guest has it no more, or is about to end; no config names it."""
    await take_from_instance(db, volume.id, compute_id, queue.clock.now())
    by = log.Starter(queue, db, volume.account_id)
    await log.notify(by, "volume_detach", VOLUME.of(volume))


async def take_from_deleted(
    db: Queries, queue: JobQueue, volume: VolumeFacts
) -> tuple[VolumeFacts, int | None]:
    """The volume as it is from now on, and the instance that had it and is being deleted, behind
    whose jobs it can be used again. The caller holds the volume."""
    holder = volume.compute_id and await instance_queries.find(db, volume.compute_id)
    if not holder or holder.status != "deleting":
        return volume, None
    await release(db, queue, volume, holder.id)
    return replace(volume, compute_id=None), holder.id
