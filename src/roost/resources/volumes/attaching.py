"""Which volume may go to which instance, and to which slot of which config (spec A, Volumes)."""

from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.catalog import Catalog
from roost.resources.compute import queries as computes
from roost.resources.compute.configs import choice
from roost.resources.compute.configs import slot_queries as slots
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.entity import resource_of as compute_resource
from roost.resources.compute.locks import BUSY as COMPUTE_BUSY
from roost.resources.compute.locks import UNAVAILABLE
from roost.resources.compute.queries import InstanceFacts
from roost.resources.volumes import queries, rules
from roost.resources.volumes.entity import resource_of
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries
from roost.web.call import Call
from roost.web.grants import Write, require

BUSY = "Volume busy."
ELSEWHERE = "Volume and Compute must be in the same region."


async def lock_instance(call: Call, compute_id: int) -> InstanceFacts:
    """The instance that a body names, on which no job works.

    Raises 403 without write access to it, 400 when the account has none of this id.
    """
    await require(Write(COMPUTE.name), call.identity, {"computeId": compute_id}, call.db)
    instance = await lock_idle_instance(call, compute_id)
    if instance is None:
        raise invalid("compute_id is not valid", "compute_id")
    return instance


async def lock_idle_instance(call: Call, compute_id: int) -> InstanceFacts | None:
    """An instance of the account; 400 while a job works on it."""
    instance = await computes.lock(call.db, call.account_id, compute_id)
    if instance is None:
        return None
    busy = await call.get(JobQueue).busy(call.db, compute_resource(compute_id))
    if busy or instance.status in UNAVAILABLE:
        raise invalid(COMPUTE_BUSY)
    return instance


async def is_busy(db: Queries, queue: JobQueue, *volume_ids: int) -> bool:
    """Whether a job works on any of the volumes, or on a clone of one."""
    if await queue.busy(db, *(resource_of(volume_id) for volume_id in volume_ids)):
        return True
    return await queries.is_being_cloned(db, *volume_ids)


async def check_idle(db: Queries, queue: JobQueue, volume: VolumeFacts) -> None:
    """Raises 400 while a job works on the volume, or when one has left it unfinished."""
    if await is_busy(db, queue, volume.id):
        raise invalid(BUSY)
    if volume.status != "active":
        raise invalid("Volume is not active.")


async def check_free(db: Queries, queue: JobQueue, volume: VolumeFacts) -> None:
    """Raises 400 when the volume cannot be attached to any instance."""
    await check_idle(db, queue, volume)
    if volume.compute_id is not None:
        raise invalid(f"Volume {volume.id} is already attached to Compute {volume.compute_id}.")


def check_region(call: Call, instance: InstanceFacts) -> None:
    """Raises 400 when there are no volumes where the instance is."""
    region = call.get(Catalog).find_region(instance.region)
    if region is None or "Block Storage" not in region.capabilities:
        raise invalid("The region of the Compute does not offer Block Storage", "compute_id")


async def check_room(
    db: Queries, instance: InstanceFacts, persists: bool, volume_id: int | None = None
) -> None:
    """Raises 400 when the instance's memory allows no volume beside those that it has."""
    volumes = await queries.of_instance(db, instance.id)
    others = [volume for volume in volumes if volume.id != volume_id]
    persistent = sum(volume.persist_across_boots for volume in others)
    reason = rules.check_room(instance.memory, len(others), persistent, persists)
    if reason is not None:
        raise invalid(reason)


async def name_in_config(
    db: Queries, instance: InstanceFacts, config_id: int | None, volume_id: int
) -> None:
    """Put a volume in a slot of the config that is wanted, else of the only one or the last used.

    Raises 400 when there is no such config, or no slot of it is free.
    """
    chosen = await choice.choose(db, instance, config_id)
    if not await slots.add_volume(db, chosen.id, volume_id):
        raise invalid("The config has no free device slot", "config_id")
