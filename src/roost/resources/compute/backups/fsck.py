"""`roost fsck` of backups: every row against its copies, all copies against their row."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import (
    ChangedError,
    Finding,
    Installation,
    UnrepairableError,
    unchanged,
    unrepairable,
)
from roost.core.planes import Engines
from roost.jobs.queue import JobQueue
from roost.resources.compute import queries as instances
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.queries import BackupFacts
from roost.resources.compute.backups.records import BackupStatus
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.compute.entity import resource_of
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class _Place:
    installation: Installation
    region: str
    engine: InstanceEngine


@dataclass(frozen=True, slots=True)
class _Rows:
    """A backup, and the version of its instance's row."""

    row: BackupFacts | None
    instance: int


@dataclass(frozen=True, slots=True)
class _Case:
    """What is wrong as long as the rows do not change."""

    rows: _Rows
    text: str


async def check_backups(installation: Installation) -> AsyncIterator[Finding]:
    """Copies and rows of all regions."""
    for region, engine in installation.get(Engines).by_region(INSTANCE_PLANE).items():
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
        case = await _confirmed(place, backup_id)
        if case is not None:
            found = f"backup {backup_id} of region {place.region} {case.text}"
            yield Finding(found, partial(_repair, place, backup_id))


async def _confirmed(place: _Place, backup_id: int) -> _Case | None:
    """None when all is well, or a job works on it."""
    store, read = place.installation.store, partial(_read, place, backup_id)
    async with store.transaction() as db:
        rows = await read(db)
    if rows is None:
        return None
    held = any(state.id == backup_id for state in await place.engine.backups.list())
    text = _difference(None if rows.row is None else rows.row.status, held)
    with suppress(ChangedError):
        if text is not None:
            async with unchanged(store, read, rows):
                return _Case(rows, text)
    return None


async def _read(place: _Place, backup_id: int, db: Queries) -> _Rows | None:
    """The row, whose instance is locked; None while a job works on that."""
    row = await queries.find(db, backup_id)
    if row is None:
        return _Rows(None, 0)
    instance = await instances.lock_any(db, row.compute_id)
    if await place.installation.get(JobQueue).busy(db, resource_of(row.compute_id)):
        return None
    row = await queries.find(db, backup_id)
    return _Rows(row, 0 if instance is None else instance.version)


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
    case = await _confirmed(place, backup_id)
    if case is None:
        return "it is well by now"
    row = case.rows.row
    if row is not None and row.status == "successful":
        raise UnrepairableError("put its copies back; the next backups take its place")
    await place.engine.backups.delete(backup_id)
    if row is None:
        return "deleted the copies"
    store, read = place.installation.store, partial(_read, place, backup_id)
    now = place.installation.get(JobQueue).clock.now()
    async with unchanged(store, read, case.rows) as db:
        await queries.set_status(db, backup_id, "failed", now)
    return "set its status to failed"
