"""`roost fsck` of backups: every row against its copies, all copies against their row."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as instances
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.queries import BackupFacts
from roost.resources.compute.backups.records import BackupStatus
from roost.resources.compute.engine import EngineError, InstanceEngine
from roost.resources.compute.entity import resource_of
from roost.resources.compute.guest import InstanceEngines
from roost.resources.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class _Place:
    installation: Installation
    region: str
    engine: InstanceEngine


async def check_backups(installation: Installation) -> AsyncIterator[Finding]:
    """Copies and rows of all regions."""
    for region, engine in installation.get(InstanceEngines).by_region.items():
        try:
            async for finding in _check_region(_Place(installation, region, engine)):
                yield finding
        except EngineError as error:
            yield unrepairable(f"region {region}: its backups cannot be seen", str(error))


async def _check_region(place: _Place) -> AsyncIterator[Finding]:
    """Copies are listed before rows: a row is there before its copies."""
    held = {state.id for state in await place.engine.backups.list()}
    rows = await queries.in_region(place.installation.store, place.region)
    for backup_id in sorted(held | rows.keys()):
        if _difference(rows.get(backup_id), backup_id in held) is None:
            continue
        async with place.installation.store.transaction() as db:
            _, text = await _look(db, place, backup_id)
        if text is not None:
            found = f"backup {backup_id} of region {place.region} {text}"
            yield Finding(found, partial(_repair, place, backup_id))


async def _look(
    db: Queries, place: _Place, backup_id: int
) -> tuple[BackupFacts | None, str | None]:
    """The row, which nobody changes until the end of the transaction, and what is wrong."""
    row = await queries.find(db, backup_id)
    if row is not None:
        await instances.lock_any(db, row.compute_id)
        if await place.installation.get(JobQueue).busy(db, resource_of(row.compute_id)):
            return row, None
        row = await queries.find(db, backup_id)
    held = any(state.id == backup_id for state in await place.engine.backups.list())
    return row, _difference(None if row is None else row.status, held)


def _difference(status: BackupStatus | None, held: bool) -> str | None:
    """`status` is None for copies that no row knows."""
    if status is None:
        return "has copies, but does not exist" if held else None
    if status not in ("successful", "failed"):
        return f"is {status}, but no job works on it"
    if status == "successful" and not held:
        return "is successful, but its copies are gone"
    return "is failed, but has copies" if status == "failed" and held else None


async def _repair(place: _Place, backup_id: int) -> str:
    """What was never whole becomes a failed backup without copies; lost copies may be put back."""
    async with place.installation.store.transaction() as db:
        row, text = await _look(db, place, backup_id)
        if text is None:
            return "it is well by now"
        if row is not None and row.status == "successful":
            raise UnrepairableError("put its copies back; the next backups take its place")
        await place.engine.backups.delete(backup_id)
        if row is None:
            return "deleted the copies"
        now = place.installation.get(JobQueue).clock.now()
        await queries.set_status(db, backup_id, "failed", now)
        return "set its status to failed"
