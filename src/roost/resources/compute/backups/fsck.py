"""`roost fsck` of backups: every row against its copies, all copies against their row."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from roost.core import instance_queries
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.queries import BackupFacts
from roost.resources.compute.backups.records import BackupStatus
from roost.resources.compute.disk_engine import BackupEngine, BackupState
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.locks import resource_of
from roost.store import Queries


async def check_backups(installation: Installation) -> AsyncIterator[Finding]:
    """Copies and rows of all regions. Those that no engine serves are told of with instances."""
    engines = installation.get(Engines).by_region(INSTANCE_PLANE).items()
    regions = {region: _Backups(installation, region, each.backups) for region, each in engines}
    async for finding in check_regions(regions, "backups", used=()):
        yield finding


@dataclass(frozen=True, slots=True)
class _Rows:
    """A backup, and the version of its instance's row."""

    row: BackupFacts | None
    instance: int


_Case: TypeAlias = Case[int, _Rows, BackupState, str]


@dataclass(frozen=True, slots=True)
class _Backups(Reconciler[int, _Rows, BackupState, str]):
    region: str
    engine: BackupEngine

    async def held(self) -> Mapping[int, BackupState | None]:
        return {state.id: state for state in await self.engine.list()}

    async def page(
        self, held: Mapping[int, BackupState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        host = self.installation.get(Engines).host
        rows = await queries.on_host(store, self.region, host, after or 0, limit)
        return {key: bool(_difference(status, key in held)) for key, status in rows.items()}

    async def read(self, db: Queries, key: int) -> _Rows:
        """The row, whose instance is locked."""
        row = await queries.find(db, key)
        if row is None:
            return _Rows(None, 0)
        instance = await instance_queries.lock_any(db, row.compute_id)
        if instance is not None and instance.host != self.installation.get(Engines).host:
            raise ChangedError
        if await self.queue.busy(db, resource_of(row.compute_id)):
            raise ChangedError
        row = await queries.find(db, key)
        return _Rows(row, 0 if instance is None else instance.version)

    async def look(self, key: int, rows: _Rows) -> _Case | None:
        if rows.row is not None and rows.row.region != self.region:
            return None  # It went there with its instance meanwhile.
        state = (await self.held()).get(key)
        text = _difference(None if rows.row is None else rows.row.status, state is not None)
        return None if text is None else Case(key, rows, state, text)

    def describe(self, case: _Case) -> str:
        return f"backup {case.key} of region {self.region} {case.drift}"

    async def mend(self, case: _Case) -> str:
        """What was never whole is a failed backup without copies; lost ones may be put back."""
        row = case.rows.row
        if row is not None and row.status == "successful":
            raise UnrepairableError("put its copies back; the next backups take its place")
        await self.engine.delete(case.key)
        if row is None:
            return "deleted the copies"
        async with self.holding(case) as db:
            await queries.set_status(db, row.id, "failed", self.queue.clock.now())
        return "set its status to failed"


def _difference(status: BackupStatus | None, held: bool) -> str | None:
    """`status` is None for copies that no row knows."""
    if status is None:
        return "has copies, but does not exist" if held else None
    if status not in ("successful", "failed"):
        return f"is {status}, but no job works on it"
    if status == "successful" and not held:
        return "is successful, but its copies are gone"
    return "is failed, but has copies" if status == "failed" and held else None
