"""Long-running work on uploads, as tables of steps.

kind                  while it runs    done         failed
image_upload          creating         available    gone
image_uploads_due     (cancels what nobody has sent data for, and clears the folder)
"""

import structlog

from roost.core.catalog import Catalog
from roost.core.events import log
from roost.core.planes import Engines
from roost.core.spool import Spool
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.disk_engine import TooLargeError
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.images import queries, upload_queries
from roost.resources.images.jobs import RETRY, ImageArgs, on_image
from roost.resources.images.locks import entity_of
from roost.resources.images.upload_rules import CANCELED
from roost.store import Queries
from roost.threads import DISK

_log = structlog.get_logger(__name__)

_AT_ONCE = 100


class UploadArgs(ImageArgs):
    refused: str | None = None
    """Why the data, or that none have come, are the end of the image."""


async def keep(run: Run[UploadArgs]) -> Verdict:
    """Make the image of what was sent. Done once, what was sent may be gone already."""
    args = run.args
    if args.refused is not None:
        raise Fatal(args.refused)
    image = await queries.find(run.store, args.number)
    if image is None:
        raise Fatal("The image is gone.")
    spool = run.get(Spool)
    try:
        size = await (
            run.get(Engines)
            .holding(INSTANCE_PLANE, image)
            .images.keep(
                args.number,
                spool.path(args.number),
                run.get(Catalog).entries.image_size,
                cloud_init="cloud-init" in image.capabilities,
                progress=run.progress,
            )
        )
    except TooLargeError as error:
        raise Fatal(str(error)) from error
    await DISK.run(spool.remove, args.number)
    return next_step(writing(queries.set_available, args.number, size, run.clock.now()))


async def discard(run: Run[UploadArgs]) -> Verdict:
    """Remove what was made and what was sent."""
    image = await queries.find(run.store, run.args.number)
    if image is not None:
        await run.get(Engines).holding(INSTANCE_PLANE, image).images.delete(image.number)
    await DISK.run(run.get(Spool).remove, run.args.number)
    return next_step()


async def _forget(db: Queries, job: Job, args: UploadArgs) -> None:
    await queries.delete(db, args.number)


UPLOAD = JobKind(
    "image_upload",
    UploadArgs,
    resource=on_image,
    steps=(Step("keep", keep, undo=discard, timeout=3600),),
    retry=RETRY,
    on_failed=_forget,
)


async def cancel_due(run: Run[JobArgs]) -> Verdict:
    """Cancel each in a transaction of its own (spec A image upload canceled)."""
    for number in await upload_queries.due(run.store, run.clock.now(), _AT_ONCE):
        try:
            async with run.store.transaction() as db:
                await _cancel(run, db, number)
        except Exception:
            _log.exception("image_upload_not_canceled", image=number)
    return next_step()


async def _cancel(run: Run[JobArgs], db: Queries, number: int) -> None:
    image = await queries.lock(db, number)
    waits = image is not None and image.status == "pending_upload" and not image.deleting
    if image is None or not waits or not await upload_queries.is_due(db, number, run.clock.now()):
        return
    await upload_queries.set_creating(db, number)
    args = UploadArgs(number=number, refused=CANCELED)
    by = log.Starter(run.get(JobQueue), db, image.account_id)
    await log.start(by, UPLOAD, args, entity_of(image))


async def clear(run: Run[JobArgs]) -> Verdict:
    """Remove what was sent for images that are gone, or need it no more."""
    spool = run.get(Spool)
    sent = await DISK.run(spool.numbers)
    for number in sent - await upload_queries.unfinished(run.store, sent):
        await DISK.run(spool.remove, number)
    return next_step()


DUE = JobKind(
    "image_uploads_due",
    JobArgs,
    steps=(Step("cancel", cancel_due), Step("clear", clear)),
    deadline=300,
)

EVERY_MINUTE = Schedule("image_uploads_due", "* * * * *", DUE, JobArgs())

KINDS = (UPLOAD, DUE)
