"""Making private images, and changes of those that are there (spec A images)."""

from roost.core.access import give_to_creator, may, require_named
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.check import check_limits
from roost.core.planes import Engines
from roost.core.turns import Turn
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.compute.disk_engine import private_image
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.locks import check_open, lock_turn, resource_of
from roost.resources.compute.references import image_entity
from roost.resources.images import jobs, locks, queries
from roost.resources.images.bodies import CreateImage, UpdateImage
from roost.resources.images.jobs import CaptureArgs, ImageArgs
from roost.resources.images.queries import IMAGE, LIMIT, NewImage

_MAX_LABEL = 50


async def create(context: Context, body: CreateImage) -> int:
    """The number of a new image, of what a disk holds when its turn has come (rule 2)."""
    instance, disk, turn = await _source(context, body.disk_id)
    new = NewImage(
        account_id=context.account_id,
        created_by=context.identity.username,
        label=body.label or disk.label[:_MAX_LABEL],
        description=body.description,
        region=instance.region,
        engine=context.get(Engines).holding(INSTANCE_PLANE, instance).name,
        compute_id=instance.id,
        capabilities=["cloud-init"] if body.cloud_init else [],
        now=context.clock.seconds(),
    )
    number = await queries.insert(context.db, new)
    await give_to_creator(context, IMAGE.name, number)
    args = CaptureArgs(
        compute_id=instance.id,
        username=context.identity.username,
        disk_id=disk.id,
        number=number,
        cloud_init=body.cloud_init,
        queued=turn.queued,
        after=turn.after,
    )
    second = image_entity(private_image(number), new.label)
    await log.start(context, jobs.CAPTURE, args, COMPUTE.of(instance), second, size=disk.size)
    await check_limits(context, LIMIT)
    return number


async def _source(context: Context, disk_id: int) -> tuple[InstanceFacts, DiskFacts, Turn]:
    """The disk, its instance, and behind which jobs of that a new one is queued.

    400 for a disk that the caller may not even see, and one that cannot be an image; 403 for one
    that a narrowed token may not name.
    """
    found = await disks.find_own(context.db, context.account_id, disk_id)
    await require_named(context, COMPUTE.name, (0 if found is None else found.compute_id,))
    if found is None or not await may(
        context.db, context.identity, COMPUTE.name, found.compute_id, "read_only"
    ):
        raise invalid("disk_id is not valid", "disk_id")
    instance, turn = await lock_turn(context, found.compute_id)
    check_open(instance)
    disk = await disks.find(context.db, instance.id, disk_id)
    if disk is None:
        raise invalid("disk_id is not valid", "disk_id")
    if disk.filesystem == "swap":
        raise invalid("A swap disk holds nothing to make an image of", "disk_id")
    if disk.status != "ready" and not (turn.queued and not disk.made):
        raise invalid("The disk is not ready.", "disk_id")
    return instance, disk, turn


async def call_off(context: Context, compute_id: int) -> None:
    """Delete what is being made of an instance's disks, after the job that has been ended; nobody
    else would do so, or could."""
    queue, now = context.get(JobQueue), context.clock.now()
    for image in await queries.lock_unmade(context.db, compute_id):
        await queries.set_deleting(context.db, image.number, now, deleting=True)
        await queue.enqueue(
            context.db,
            jobs.DELETE,
            ImageArgs(number=image.number),
            resource=resource_of(compute_id),
            account_id=image.account_id,
        )


async def update(context: Context, image_id: str, body: UpdateImage) -> None:
    """What is the same already is told of to nobody."""
    image = await locks.lock(context, image_id)
    label, description = body.label or image.label, image.description or ""
    if "description" in body.model_fields_set:
        description = body.description or ""
    if (label, description) == (image.label, image.description):
        return
    await queries.update(context.db, image.number, label, description, context.clock.now())
    await log.notify(context, "image_update", image_entity(image.id, label))


async def delete(context: Context, image_id: str) -> None:
    """From now on nobody sees it; disks that started as it stay."""
    image = await locks.lock(context, image_id)
    locks.check_idle(image)
    await queries.set_deleting(context.db, image.number, context.clock.now(), deleting=True)
    await log.start(context, jobs.DELETE, ImageArgs(number=image.number), locks.entity_of(image))
