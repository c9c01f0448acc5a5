"""What becomes of rows when jobs on volumes are enqueued or end."""

from datetime import datetime

from roost.jobs.model import Job
from roost.resources.compute import queries as computes
from roost.resources.compute.configs import queries as slots
from roost.resources.volumes import state_queries
from roost.resources.volumes.args import AttachmentArgs, ResizeArgs, VolumeArgs
from roost.store import Queries


async def is_active(db: Queries, job: Job, args: VolumeArgs) -> None:
    """Again, after a change or a try of one."""
    await state_queries.set_status(db, args.volume_id, "active", job.finished or job.created)


async def is_made(db: Queries, job: Job, args: VolumeArgs) -> None:
    """The engine holds it, and it can be used."""
    now = job.finished or job.created
    await state_queries.set_status(db, args.volume_id, "active", now, made=True)


async def will_grow(db: Queries, job: Job, args: ResizeArgs) -> None:
    """The new size is shown at once, the status when the volume's turn has come."""
    await state_queries.set_size(db, args.volume_id, args.size)
    if not args.queued:
        await state_queries.set_status(db, args.volume_id, "resizing", job.created)


async def vanishes(db: Queries, job: Job, args: VolumeArgs) -> None:
    """Nothing half-made stays."""
    await forget(db, args.volume_id)


async def reappears(db: Queries, job: Job, args: VolumeArgs) -> None:
    await state_queries.undelete(db, args.volume_id, job.finished or job.created)


async def is_detached(db: Queries, job: Job, args: AttachmentArgs) -> None:
    """The instance's row is locked before."""
    await computes.lock_any(db, args.compute_id)
    now = job.finished or job.created
    await take_from_instance(db, args.volume_id, args.compute_id, now)


async def take_from_instance(db: Queries, volume_id: int, compute_id: int, now: datetime) -> None:
    """No config of the instance names the volume any more."""
    await slots.remove_volume(db, compute_id, volume_id)
    await state_queries.detach(db, volume_id, compute_id, now)


async def forget(db: Queries, volume_id: int) -> None:
    """Drop the row; grants on it and slots that name it go with it."""
    await state_queries.delete(db, volume_id)
