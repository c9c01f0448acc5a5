"""A volume looked at closely: its row and its instance's are locked, data planes and jobs asked."""

from dataclasses import dataclass

from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as computes
from roost.resources.compute.configs import slot_queries as slots
from roost.resources.compute.entity import resource_of as compute_resource
from roost.resources.compute.guest import InstanceEngines
from roost.resources.compute.queries import InstanceFacts
from roost.resources.fsck import Installation
from roost.resources.volumes import attaching, queries
from roost.resources.volumes.drift import Drift, compare
from roost.resources.volumes.engine import VolumeEngine, VolumeState
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Case:
    """Drift that is certain until the end of the transaction."""

    row: VolumeFacts | None
    state: VolumeState | None
    owner: int | None
    """The instance whose guest runs and should have the volume."""
    drift: Drift


async def examine(
    db: Queries, installation: Installation, engine: VolumeEngine, region: str, volume_id: int
) -> Case | None:
    """None when all is well, or a job is about to change it. Raises EngineError."""
    queue = installation.get(JobQueue)
    instance = await _lock_instance(db, volume_id)
    row = await queries.lock_any(db, volume_id)
    if row is not None and row.region != region:
        row = None
    if row is not None and row.compute_id != (instance and instance.id):
        return None
    if row is not None and await queue.busy(db, *await attaching.resources(db, volume_id)):
        return None
    if instance is not None and await queue.busy(db, compute_resource(instance.id)):
        return None
    state = await engine.inspect(volume_id)
    owner = await _owner(db, installation, row, instance)
    drift = compare(row, state, owner)
    return None if drift is None else Case(row, state, owner, drift)


async def _lock_instance(db: Queries, volume_id: int) -> InstanceFacts | None:
    found = await queries.find(db, volume_id)
    if found is None or found.compute_id is None:
        return None
    return await computes.lock_any(db, found.compute_id)


async def _owner(
    db: Queries,
    installation: Installation,
    row: VolumeFacts | None,
    instance: InstanceFacts | None,
) -> int | None:
    """Configs change while a guest runs: one that none names by now may be in it or not."""
    if row is None or instance is None or not row.made:
        return None
    if not await slots.boots_with(db, instance.id, row.id, unnamed=not row.persist_across_boots):
        return None
    guest = await installation.get(InstanceEngines).holding(instance).inspect(instance.id)
    return instance.id if guest is not None and guest.power == "running" else None
