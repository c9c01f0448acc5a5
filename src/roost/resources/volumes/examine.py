"""A volume looked at closely: its row and its instance's, the data planes, and the jobs."""

from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass

from roost.core.fsck import ChangedError, Installation, unchanged
from roost.core.planes import Engines
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as computes
from roost.resources.compute.configs import slot_queries as slots
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import resource_of as compute_resource
from roost.resources.compute.queries import InstanceFacts
from roost.resources.volumes import attaching, queries
from roost.resources.volumes.drift import Drift, compare
from roost.resources.volumes.engine import VolumeEngine, VolumeState
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database says; without a row the data are nobody's."""

    row: VolumeFacts | None
    instance: InstanceFacts | None
    """To which the volume is attached."""
    boots_with: bool
    """Whether the instance's guest has the volume while it runs."""


@dataclass(frozen=True, slots=True)
class Case:
    """A difference between rows and data, as long as the rows do not change."""

    rows: Rows
    state: VolumeState | None
    owner: int | None
    """The instance whose guest runs and should have the volume."""
    drift: Drift

    @property
    def row(self) -> VolumeFacts | None:
        return self.rows.row


@dataclass(frozen=True, slots=True)
class Examination:
    """Of a volume, or of what the engine of a region has under its id."""

    installation: Installation
    region: str
    engine: VolumeEngine
    volume_id: int

    async def confirmed(self) -> Case | None:
        """None when all is well, or a job is about to change it. Raises EngineError."""
        case = await self._look()
        with suppress(ChangedError):
            if case is not None:
                async with self.holding(case):
                    return case
        return None

    def holding(self, case: Case) -> AbstractAsyncContextManager[Queries]:
        """A transaction until whose end the rows are so. Raises ChangedError."""
        return unchanged(self.installation.store, self._read, case.rows)

    async def _look(self) -> Case | None:
        async with self.installation.store.transaction() as db:
            rows = await self._read(db)
        if rows is None:
            return None
        state = await self.engine.inspect(self.volume_id)
        owner = await self._owner(rows)
        drift = compare(rows.row, state, owner)
        return None if drift is None else Case(rows, state, owner, drift)

    async def _owner(self, rows: Rows) -> int | None:
        if rows.instance is None or not rows.boots_with:
            return None
        engine = self.installation.get(Engines).holding(INSTANCE_PLANE, rows.instance)
        guest = await engine.inspect(rows.instance.id)
        return rows.instance.id if guest is not None and guest.power == "running" else None

    async def _read(self, db: Queries) -> Rows | None:
        """The rows, locked; None while a job works on them."""
        queue = self.installation.get(JobQueue)
        instance = await _lock_instance(db, self.volume_id)
        row = await queries.lock_any(db, self.volume_id)
        if row is None or row.region != self.region:
            return Rows(None, None, False)
        if row.compute_id != (instance and instance.id):
            return None
        if await queue.busy(db, *await attaching.resources(db, row.id)):
            return None
        if instance is not None and await queue.busy(db, compute_resource(instance.id)):
            return None
        return Rows(row, instance, await _boots_with(db, row, instance))


async def _lock_instance(db: Queries, volume_id: int) -> InstanceFacts | None:
    found = await queries.find(db, volume_id)
    if found is None or found.compute_id is None:
        return None
    return await computes.lock_any(db, found.compute_id)


async def _boots_with(db: Queries, row: VolumeFacts, instance: InstanceFacts | None) -> bool:
    """Configs change while a guest runs: one that none names by now may be in it or not."""
    if instance is None or not row.made:
        return False
    return await slots.boots_with(db, instance.id, row.id, unnamed=not row.persist_across_boots)
