"""An instance looked at closely: its row is locked, its guest asked, its jobs known."""

from dataclasses import dataclass

from roost.jobs.queue import JobQueue
from roost.resources.compute import queries
from roost.resources.compute.disks import queries as disk_queries
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.drift import Drift, compare
from roost.resources.compute.engine import InstanceEngine, InstanceState
from roost.resources.compute.entity import resource_of
from roost.resources.compute.lifecycle import clone_queries
from roost.resources.compute.queries import InstanceFacts
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Case:
    """Drift that is certain until the end of the transaction."""

    row: InstanceFacts | None
    disks: list[DiskFacts]
    guest: InstanceState | None
    drift: Drift


async def examine(
    db: Queries, queue: JobQueue, engine: InstanceEngine, region: str, compute_id: int
) -> Case | None:
    """None when all is well, or a job is about to change it. Raises EngineError."""
    row = await queries.lock_any(db, compute_id)
    if row is not None and row.region != region:
        row = None
    if row is not None and await queue.busy(db, resource_of(compute_id)):
        return None
    if row is not None and await clone_queries.clones(db, compute_id):
        return None
    disks = [] if row is None else await disk_queries.of_instance(db, compute_id)
    guest = await engine.inspect(compute_id)
    drift = compare(row, disks, guest)
    return None if drift is None else Case(row, disks, guest, drift)
