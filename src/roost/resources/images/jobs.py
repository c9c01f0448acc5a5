"""Long-running work on private images, as tables of steps.

kind           while it runs    done         failed
disk_imagize   creating         available    gone; its disk stays as it is all the time
image_delete   not shown        gone         available again
"""

from roost.core.catalog import Catalog
from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.turns import in_turn
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.compute.disk_engine import ImageEngine, TooLargeError
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.locks import InstanceArgs, engine_of, facts_of, on_instance
from roost.resources.images import queries
from roost.resources.images.locks import resource_of
from roost.store import Queries


class CaptureArgs(InstanceArgs):
    """Which disk is to be which image."""

    disk_id: int
    number: int
    cloud_init: bool


class ImageArgs(JobArgs):
    number: int


def on_image(args: ImageArgs) -> str:
    """The resource of jobs on an image alone."""
    return resource_of(args.number)


async def capture(run: Run[CaptureArgs]) -> Verdict:
    """Make the image of what is on the disk now."""
    facts, args = await facts_of(run), run.args
    disk = await disks.find(run.store, facts.id, args.disk_id)
    if disk is None or not disk.made:
        raise Fatal("The disk of which the image was to be made is gone.")
    try:
        size = await engine_of(run, facts).images.capture(
            args.number,
            disk.spec,
            run.get(Catalog).entries.image_size,
            cloud_init=args.cloud_init,
            progress=run.progress,
        )
    except TooLargeError as error:
        raise Fatal(str(error)) from error
    return next_step(writing(queries.set_available, args.number, size, run.clock.now()))


async def discard(run: Run[CaptureArgs]) -> Verdict:
    """Remove what was made, wholly or in part."""
    facts = await facts_of(run)
    await engine_of(run, facts).images.delete(run.args.number)
    return next_step()


async def _holder(run: Run[ImageArgs]) -> ImageEngine:
    image = await queries.find(run.store, run.args.number)
    if image is None:
        raise Fatal("The image is gone.")
    return run.get(Engines).holding(INSTANCE_PLANE, image).images


async def remove(run: Run[ImageArgs]) -> Verdict:
    await (await _holder(run)).delete(run.args.number)
    return next_step()


async def look(run: Run[ImageArgs]) -> Verdict:
    """An image that is gone cannot be shown again."""
    held, now = await (await _holder(run)).list(), run.clock.now()
    if run.args.number in held:
        return next_step(writing(queries.set_deleting, run.args.number, now, deleting=False))
    return next_step(writing(queries.delete, run.args.number))


async def _forget_captured(db: Queries, job: Job, args: CaptureArgs) -> None:
    await queries.delete(db, args.number)


async def _forget(db: Queries, job: Job, args: ImageArgs) -> None:
    await queries.delete(db, args.number)


async def _show(db: Queries, job: Job, args: ImageArgs) -> None:
    await queries.set_deleting(db, args.number, job.finished or job.created, deleting=False)


RETRY = Retry(attempts=3, base=0.25)
"""What an engine refuses it seldom does later."""

CAPTURE = JobKind(
    "disk_imagize",
    CaptureArgs,
    resource=on_instance,
    steps=(Step("capture", in_turn(capture), undo=discard, timeout=3600),),
    retry=RETRY,
    on_failed=_forget_captured,
)

DELETE = JobKind(
    "image_delete",
    ImageArgs,
    resource=on_image,
    steps=(Step("remove", remove, undo=look, timeout=600),),
    retry=RETRY,
    on_done=_forget,
    on_failed=_show,
)

KINDS = (CAPTURE, DELETE)
