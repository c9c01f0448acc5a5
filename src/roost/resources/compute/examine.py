"""An instance looked at closely: its row, its guest and its jobs."""

from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass

from roost.core.fsck import ChangedError, Installation, unchanged
from roost.core.neighbours import Neighbours
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
class Rows:
    """What the database says; without a row the guest is nobody's."""

    row: InstanceFacts | None
    disks: tuple[DiskFacts, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A difference between rows and guest, as long as the rows do not change."""

    rows: Rows
    guest: InstanceState | None
    drift: Drift

    @property
    def row(self) -> InstanceFacts | None:
        return self.rows.row


@dataclass(frozen=True, slots=True)
class Examination:
    """Of an instance, or of what the engine of a region has under its id."""

    installation: Installation
    region: str
    engine: InstanceEngine
    compute_id: int

    async def look(self) -> Case | None:
        """None when all is well, or a job is about to change it. Raises EngineError."""
        async with self.installation.store.transaction() as db:
            rows = await self._read(db)
        if rows is None:
            return None
        guest = await self.engine.inspect(self.compute_id)
        drift = compare(rows.row, rows.disks, guest)
        return None if drift is None else Case(rows, guest, drift)

    async def confirmed(self) -> Case | None:
        """The same, certain at this moment."""
        case = await self.look()
        with suppress(ChangedError):
            if case is not None:
                await self.confirm(case)
                return case
        return None

    async def confirm(self, case: Case) -> None:
        """Raises ChangedError."""
        async with self.holding(case):
            pass

    def holding(self, case: Case) -> AbstractAsyncContextManager[Queries]:
        """A transaction until whose end the rows are so. Raises ChangedError."""
        return unchanged(self.installation.store, self._read, case.rows)

    async def _read(self, db: Queries) -> Rows | None:
        """The rows, locked; None while a job works on the instance or needs it as it is."""
        queue, neighbours = self.installation.get(JobQueue), self.installation.get(Neighbours)
        row = await queries.lock_any(db, self.compute_id)
        if row is None or row.region != self.region:
            return Rows(None, ())
        if await queue.busy(db, resource_of(row.id)) or await neighbours.busy(db, queue, row.id):
            return None
        if await clone_queries.clones(db, row.id):
            return None
        return Rows(row, tuple(await disk_queries.of_instance(db, row.id)))
