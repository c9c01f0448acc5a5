"""`roost fsck` of private images: rows against what engines hold."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.compute.disk_engine import ImageEngine
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.locks import resource_of as compute_resource
from roost.resources.images import jobs, queries
from roost.resources.images.jobs import ImageArgs
from roost.resources.images.locks import entity_of, resource_of
from roost.resources.images.queries import ImageFacts
from roost.store import Queries

Drift = Literal["orphan", "creating", "deleting", "missing"]

_TEXTS: Mapping[Drift, str] = {
    "orphan": "has data, but does not exist",
    "creating": "is creating, but no job works on it",
    "deleting": "is being deleted, but no job works on it",
    "missing": "has lost its data",
}


def compare(row: ImageFacts | None, held: bool) -> Drift | None:
    """The difference to mend first; no job works on the image."""
    if row is None:
        return "orphan" if held else None
    if row.deleting:
        return "deleting"
    if row.status == "pending_upload":
        return None
    if row.status != "available":
        return "creating"
    return None if held else "missing"


async def check_images(installation: Installation) -> AsyncIterator[Finding]:
    """Images of all regions. Those that no engine serves are told of with instances."""
    engines = installation.get(Engines).by_region(INSTANCE_PLANE).items()
    regions = {region: _Images(installation, region, each.images) for region, each in engines}
    async for finding in check_regions(regions, "images", used=()):
        yield finding


_Case: TypeAlias = Case[int, ImageFacts | None, int, Drift]


@dataclass(frozen=True, slots=True)
class _Images(Reconciler[int, ImageFacts | None, int, Drift]):
    """Regions of one host share what they hold: each answers for what it has made itself."""

    region: str
    engine: ImageEngine

    async def held(self) -> Mapping[int, int | None]:
        return {number: number for number in await self._held()}

    async def page(
        self, held: Mapping[int, int | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        rows = await queries.in_region(store, self.region, after or 0, limit)
        return {row.number: bool(compare(row, row.number in held)) for row in rows}

    async def read(self, db: Queries, key: int) -> ImageFacts | None:
        row = await queries.lock(db, key)
        resources = [resource_of(key)]
        if row is not None and row.compute_id is not None:
            resources.append(compute_resource(row.compute_id))
        if await self.queue.busy(db, *resources):
            raise ChangedError
        return row

    async def look(self, key: int, rows: ImageFacts | None) -> _Case | None:
        if rows is not None and rows.region != self.region:
            return None
        held = key in await self._held()
        drift = compare(rows, held)
        return None if drift is None else Case(key, rows, key if held else None, drift)

    async def _held(self) -> set[int]:
        """With those of which the disk alone is there."""
        return {*await self.engine.list(), *await self.engine.aside()}

    def describe(self, case: _Case) -> str:
        return f"image {case.key} of region {self.region} {_TEXTS[case.drift]}"

    async def mend(self, case: _Case) -> str:
        row = case.rows
        if row is None:
            await self.engine.delete(case.key)
            return "deleted the data"
        if case.drift == "missing":
            raise UnrepairableError("put the data back, or delete the image")
        async with self.holding(case) as db:
            await queries.set_deleting(db, row.number, self.queue.clock.now(), deleting=True)
            by = log.Starter(self.queue, db, row.account_id)
            await log.start(by, jobs.DELETE, ImageArgs(number=row.number), entity_of(row))
        return "a job deletes it"
