"""Who may work on a volume and the instance that has it, and what may go where.

Instances are locked before volumes. While a job changes the power of an instance, jobs on its
volumes wait, and the other way round, so that a guest never starts with half of a change.
"""

from roost.core import instance_queries
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.core.turns import Turn
from roost.errors import invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.compute.configs import device_queries as slots
from roost.resources.compute.locks import BUSY as COMPUTE_BUSY
from roost.resources.compute.locks import check_open, clones_of
from roost.resources.compute.locks import resource_of as compute_resource
from roost.resources.volumes import queries, rules
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


def resource_of(volume_id: int) -> str:
    """The name under which jobs of a volume run one at a time."""
    return f"volume:{volume_id}"


BUSY = "Volume busy."
ELSEWHERE = "Volume and Compute must be in the same region."
ON_ANOTHER_HOST = "Volume and Compute are on different hosts of the region."


async def lock_instance(context: Context, compute_id: int) -> InstanceFacts:
    """The instance that a body names.

    Raises 400 when it is gone, or a job replaces its configs or changes how many volumes it may
    have.
    """
    instance = await instance_queries.lock(context.db, context.account_id, compute_id)
    if instance is None:
        raise invalid("compute_id is not valid", "compute_id")
    check_takes_volumes(instance)
    return instance


def check_region_of(volume: VolumeFacts, instance: InstanceFacts, field: str | None = None) -> None:
    """400 unless both are in one region."""
    if volume.region != instance.region:
        raise invalid(ELSEWHERE, field)


def check_place(volume: VolumeFacts, instance: InstanceFacts, field: str) -> None:
    """400 unless the instance's guest can have the volume as it is."""
    check_region_of(volume, instance, field)
    if volume.host != instance.host:
        raise invalid(f"{ON_ANOTHER_HOST} Attach it to the Compute first.", field)


def check_takes_volumes(instance: InstanceFacts) -> None:
    check_open(instance)
    if instance.status == "resizing":
        raise invalid(COMPUTE_BUSY)


async def resources(db: Queries, *volume_ids: int) -> list[str]:
    """Under which names jobs work on volumes and on clones of them."""
    if not volume_ids:
        return []
    return [resource_of(each) for each in (*volume_ids, *await queries.clones(db, *volume_ids))]


async def find_turn(
    db: Queries,
    queue: JobQueue,
    volume_id: int | None,
    *compute_ids: int | None,
    own: bool = True,
) -> Turn:
    """The turn of a new job that works on a volume, and on guests of instances.

    The caller holds them. The job is the volume's `own`, or that of another volume, its clone.
    Raises 400 when too many jobs are waiting.
    """
    names = [] if volume_id is None else await resources(db, volume_id)
    for compute_id in compute_ids:
        if compute_id is not None:
            names += [compute_resource(compute_id), *await clones_of(db, compute_id)]
    waited_for = resource_of(volume_id) if own and volume_id is not None else ""
    turn = Turn.behind(await queue.unfinished(db, *names), waited_for)
    if turn.full:
        raise invalid(BUSY)
    return turn


NOT_ACTIVE = "Volume is not active."


def check_active(volume: VolumeFacts, turn: Turn) -> None:
    """Raises 400 when a job has left the volume unfinished, and none is going to finish it."""
    if not turn.queued:
        check_rests(volume)


def check_rests(volume: VolumeFacts) -> None:
    """Raises 400 while it is made or grows, for what needs it whole (spec A volumes clone status,
    A volumes resize status)."""
    if volume.status != "active":
        raise invalid(NOT_ACTIVE)


def check_free(volume: VolumeFacts, turn: Turn) -> None:
    """Raises 400 when the volume cannot be attached to any instance."""
    if volume.compute_id is not None:
        raise invalid(f"Volume {volume.id} is already attached to Compute {volume.compute_id}.")
    check_active(volume, turn)


def check_region(context: Context, instance: InstanceFacts) -> None:
    """Raises 400 when there are no volumes where the instance is."""
    region = context.get(Catalog).find_region(instance.region)
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


async def name_in_config(db: Queries, config_id: int, volume_id: int) -> None:
    """Put a volume in a slot of a config. Raises 400 when none is free."""
    if not await slots.add_volume(db, config_id, volume_id):
        raise invalid("The config has no free device slot", "config_id")


async def find(context: Context, volume_id: int) -> VolumeFacts:
    """404 unless the account has it."""
    volume = await queries.find_own(context.db, context.account_id, volume_id)
    if volume is None:
        raise not_found()
    return volume


async def lock(context: Context, volume_id: int) -> VolumeFacts:
    """The caller's volume, which nobody else changes until the end of the transaction."""
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
        instance = await instance_queries.lock(context.db, context.account_id, compute_id)
    volume = await lock(context, volume_id)
    if volume.compute_id != (instance and instance.id):
        raise invalid(BUSY)  # Attached or detached while the lock was waited for.
    queue = context.get(JobQueue)
    turn = await find_turn(context.db, queue, volume.id, volume.compute_id, own=own)
    check_active(volume, turn)
    return volume, instance, turn
