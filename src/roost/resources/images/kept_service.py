"""Images that are kept of instances when they are deleted (reference: Image, type automatic).

The row is there with the request, the disk is set aside before its instance goes, and a job of the
image's own does the long work when nobody waits for it any more.
"""

from roost.core.access import give_to_creator
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.core.planes import Engines
from roost.jobs.queue import JobQueue
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.references import image_entity
from roost.resources.images import queries, rules
from roost.resources.images.jobs import ImageArgs
from roost.resources.images.kept_jobs import KEEP
from roost.resources.images.queries import IMAGE, NewImage
from roost.services import Services
from roost.store import Queries

_MAX_LABEL = 50


async def begin(
    context: Context, instance: InstanceFacts, disk: DiskSpec, label: str
) -> int | None:
    """The number of the image that is going to be made; None when none is."""
    now = context.clock.seconds()
    days = context.get(Catalog).entries.deleted_disks_days
    expiry = rules.kept_until(instance.created, now, days)
    held = await queries.count(context.db, context.account_id)
    if expiry is None or held >= rules.MOST_KEPT:
        return None
    new = NewImage(
        account_id=context.account_id,
        created_by=context.identity.username,
        label=instance.label[:_MAX_LABEL],
        description=f"{label} of a deleted instance, {instance.label}",
        region=instance.region,
        engine=context.get(Engines).holding(INSTANCE_PLANE, instance).name,
        compute_id=instance.id,
        capabilities=await queries.capabilities(context.db, disk.image),
        now=now,
        type="automatic",
        expiry=expiry,
    )
    number = await queries.insert(context.db, new)
    await give_to_creator(context, IMAGE.name, number)
    return number


async def set_aside(
    services: Services, instance: InstanceFacts, disk: DiskSpec, number: int
) -> None:
    """Save the disk while it is there. Raises EngineError, also for one that holds too much."""
    engine = services.get(Engines).holding(INSTANCE_PLANE, instance)
    most = services.get(Catalog).entries.image_size
    await engine.images.set_aside(number, disk, most)


async def start(db: Queries, services: Services, instance: InstanceFacts, number: int) -> None:
    """Its instance is gone when the transaction ends: a job makes the image."""
    image = await queries.lock(db, number)
    if image is None:
        return
    by = log.Starter(services.get(JobQueue), db, image.account_id)
    second = image_entity(image.id, image.label)
    await log.start(by, KEEP, ImageArgs(number=number), COMPUTE.of(instance), second)


async def discard(services: Services, instance: InstanceFacts, number: int) -> None:
    """What was set aside, if anything."""
    engine = services.get(Engines).holding(INSTANCE_PLANE, instance)
    await engine.images.delete(number)
