"""Long-running work on images that are kept of deleted instances, as tables of steps.

kind            while it runs    done         failed
image_keep      creating         available    gone
images_expire   (deletes those whose time is up)
"""

import structlog

from roost.core.events import log
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.images import queries
from roost.resources.images.jobs import DELETE, RETRY, ImageArgs, on_image
from roost.resources.images.locks import entity_of
from roost.store import Queries

_log = structlog.get_logger(__name__)

_AT_ONCE = 100


async def make(run: Run[ImageArgs]) -> Verdict:
    """Make the image of the disk that was set aside."""
    image = await queries.find(run.store, run.args.number)
    if image is None:
        raise Fatal("The image is gone.")
    size = await (
        run.get(Engines)
        .holding(INSTANCE_PLANE, image)
        .images.finish(
            image.number, cloud_init="cloud-init" in image.capabilities, progress=run.progress
        )
    )
    return next_step(writing(queries.set_available, image.number, size, run.clock.now()))


async def discard(run: Run[ImageArgs]) -> Verdict:
    """Remove what was made, and the disk."""
    image = await queries.find(run.store, run.args.number)
    if image is not None:
        await run.get(Engines).holding(INSTANCE_PLANE, image).images.delete(image.number)
    return next_step()


async def _forget(db: Queries, job: Job, args: ImageArgs) -> None:
    await queries.delete(db, args.number)


KEEP = JobKind(
    "image_keep",
    ImageArgs,
    resource=on_image,
    event="disk_imagize",
    steps=(Step("make", make, undo=discard, timeout=3600),),
    retry=RETRY,
    on_failed=_forget,
)


async def expire(run: Run[JobArgs]) -> Verdict:
    """Delete each in a transaction of its own."""
    for number in await queries.due(run.store, run.clock.now(), _AT_ONCE):
        try:
            async with run.store.transaction() as db:
                await _expire(run, db, number)
        except Exception:
            _log.exception("image_not_expired", image=number)
    return next_step()


async def _expire(run: Run[JobArgs], db: Queries, number: int) -> None:
    image = await queries.lock(db, number)
    if image is None or image.deleting or image.status != "available":
        return
    if await queries.is_due(db, number, run.clock.now()):
        await queries.set_deleting(db, number, run.clock.now(), deleting=True)
        by = log.Starter(run.get(JobQueue), db, image.account_id)
        await log.start(by, DELETE, ImageArgs(number=number), entity_of(image))


EXPIRE = JobKind("images_expire", JobArgs, steps=(Step("expire", expire),), deadline=600)

EVERY_TEN_MINUTES = Schedule("images_expire", "*/10 * * * *", EXPIRE, JobArgs())

KINDS = (KEEP, EXPIRE)
