"""`roost fsck` of object storage: rows against the buckets and keys that servers have."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.object_storage import key_queries, key_steps, queries, watch_jobs
from roost.resources.object_storage.engine import OBJECT_PLANE, HeldBucket, ObjectEngine
from roost.resources.object_storage.key_queries import KeyFacts
from roost.resources.object_storage.locks import resource_of
from roost.resources.object_storage.queries import BucketFacts
from roost.store import Queries

Drift: TypeAlias = Literal["orphan", "taken", "pending", "missing"]

_TEXTS: Mapping[Drift, str] = {
    "orphan": "is on the server, but does not exist",
    "taken": "is on the server as another one of its name",
    "pending": "is not as it should be, but no job works on it",
    "missing": "is not on the server",
}


async def check_buckets(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    engines = installation.get(Engines).by_region(OBJECT_PLANE)
    regions = {region: _Buckets(installation, region, each) for region, each in engines.items()}
    used = [region for region, _ in await queries.engines_in_use(installation.store)]
    async for finding in check_regions(regions, "buckets", used):
        yield finding


async def check_keys(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    engines = installation.get(Engines).by_region(OBJECT_PLANE)
    regions = {region: _Keys(installation, region, each) for region, each in engines.items()}
    async for finding in check_regions(regions, "keys of object storage", ()):
        yield finding


def compare_bucket(row: BucketFacts | None, held: HeldBucket | None) -> Drift | None:
    """While no job works on it."""
    if row is None:
        return None if held is None else "orphan"
    if held is not None and held.mark not in (None, row.mark):
        return "taken"
    if row.pending:
        return "pending"
    if held is None or held.lost:
        return "missing"
    return "pending" if held.mark is None else None


def compare_key(row: KeyFacts | None, wanted: bool, held: bool) -> Drift | None:
    """In one region, while no job works on it."""
    if row is None:
        return "orphan" if held else None
    if row.pending or held != wanted:
        return "pending"
    return None


@dataclass(frozen=True, slots=True)
class _Buckets(Reconciler[str, BucketFacts | None, HeldBucket, Drift]):
    region: str
    engine: ObjectEngine

    async def held(self) -> Mapping[str, HeldBucket | None]:
        return await self.engine.buckets()

    async def page(
        self, held: Mapping[str, HeldBucket | None], after: str | None, limit: int
    ) -> Mapping[str, bool]:
        store = self.installation.store
        rows = await queries.in_region(store, self.region, after or "", limit)
        return {row.label: bool(compare_bucket(row, held.get(row.name))) for row in rows}

    async def read(self, db: Queries, key: str) -> BucketFacts | None:
        row = await queries.lock_in(db, self.region, key)
        if row is not None and await self.queue.busy(db, resource_of(row.account_id)):
            raise ChangedError
        return row

    async def look(
        self, key: str, rows: BucketFacts | None
    ) -> Case[str, BucketFacts | None, HeldBucket, Drift] | None:
        held = (await self.engine.buckets()).get(key)
        drift = compare_bucket(rows, held)
        return None if drift is None else Case(key, rows, held, drift)

    def describe(self, case: Case[str, BucketFacts | None, HeldBucket, Drift]) -> str:
        return f"bucket {case.key} of region {self.region} {_TEXTS[case.drift]}"

    async def mend(self, case: Case[str, BucketFacts | None, HeldBucket, Drift]) -> str:
        if case.drift in ("orphan", "taken"):
            assert case.seen is not None
            await self.engine.purge_bucket(case.key, case.seen.mark)
            return "deleted that with all that it held"
        if case.drift == "missing":
            raise UnrepairableError("put the data back, or delete the bucket")
        row = case.rows
        assert row is not None
        async with self.holding(case) as db:
            await watch_jobs.bring_bucket(db, self.queue, row.id)
        return "a job brings it"


@dataclass(frozen=True, slots=True)
class _Key:
    """What the database says of a key in a region."""

    row: KeyFacts | None
    wanted: bool


@dataclass(frozen=True, slots=True)
class _Keys(Reconciler[int, _Key, bool, Drift]):
    region: str
    engine: ObjectEngine

    async def held(self) -> Mapping[int, bool | None]:
        return {int(name.removeprefix("key-")): True for name in await self.engine.keys()}

    async def page(
        self, held: Mapping[int, bool | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        everywhere = await self.engine.takes_keys()
        rows = await key_queries.wanted_in(store, self.region, everywhere, after or 0, limit)
        return {row.id: bool(compare_key(row, True, row.id in held)) for row in rows}

    async def read(self, db: Queries, key: int) -> _Key:
        row = await key_queries.lock_any(db, key)
        if row is None:
            return _Key(None, False)
        if await self.queue.busy(db, resource_of(row.account_id)):
            raise ChangedError
        wanted = await key_steps.is_wanted(db, self.region, self.engine, row.account_id)
        return _Key(row, wanted)

    async def look(self, key: int, rows: _Key) -> Case[int, _Key, bool, Drift] | None:
        held = f"key-{key}" in await self.engine.keys()
        wanted = rows.wanted and rows.row is not None and not rows.row.deleting
        drift = compare_key(rows.row, wanted, held)
        return None if drift is None else Case(key, rows, held, drift)

    def describe(self, case: Case[int, _Key, bool, Drift]) -> str:
        return f"key {case.key} of object storage in region {self.region} {_TEXTS[case.drift]}"

    async def mend(self, case: Case[int, _Key, bool, Drift]) -> str:
        if case.drift == "orphan":
            await self.engine.delete_key(f"key-{case.key}")
            return "deleted it"
        async with self.holding(case) as db:
            await watch_jobs.bring_key(db, self.queue, case.key)
        return "a job brings it"
