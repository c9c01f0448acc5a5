"""`roost fsck` of volumes: every row against its data, and against the guest that has it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from roost.jobs.queue import JobQueue
from roost.resources.compute.engine import EngineError
from roost.resources.events import log
from roost.resources.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.resources.volumes import jobs, queries, state_queries
from roost.resources.volumes.args import VolumeArgs
from roost.resources.volumes.drift import DriftKind
from roost.resources.volumes.effects import take_from_instance
from roost.resources.volumes.engine import VolumeEngine, VolumeState
from roost.resources.volumes.engines import VolumeEngines
from roost.resources.volumes.examine import Case, examine
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries

_ROUNDS = 3
"""One repair may show the next difference: a volume that rests may have the wrong size."""


async def check_volumes(installation: Installation) -> AsyncIterator[Finding]:
    """Data and rows of all regions."""
    engines = installation.get(VolumeEngines).by_region
    for region, engine in engines.items():
        try:
            async for finding in _check_region(installation, region, engine):
                yield finding
        except EngineError as error:
            yield unrepairable(f"region {region}: its volumes cannot be seen", str(error))
    for region in await queries.regions_in_use(installation.store):
        if region not in engines:
            text = f"region {region}: it has volumes, but is not in the catalogue"
            yield unrepairable(text, "add it to the catalogue")


async def _check_region(
    installation: Installation, region: str, engine: VolumeEngine
) -> AsyncIterator[Finding]:
    """Data are listed before rows: a row is there before its data."""
    held = {state.id for state in await engine.list()}
    rows = {row.id for row in await queries.in_region(installation.store, region)}
    for volume_id in sorted(held | rows):
        async with installation.store.transaction() as db:
            case = await examine(db, installation, engine, region, volume_id)
        if case is not None:
            text = f"volume {volume_id} of region {region} {case.drift.text}"
            yield Finding(text, partial(_repair, installation, region, engine, volume_id))


async def _repair(
    installation: Installation, region: str, engine: VolumeEngine, volume_id: int
) -> str:
    done: list[str] = []
    for _ in range(_ROUNDS):
        async with installation.store.transaction() as db:
            case = await examine(db, installation, engine, region, volume_id)
            if case is None:
                break
            bench = _Bench(db, installation.get(JobQueue), engine, volume_id)
            done.append(await _REMEDIES[case.drift.kind](bench, case))
    return ", ".join(done) or "it is well by now"


@dataclass(frozen=True, slots=True)
class _Bench:
    """What a remedy works with; the row is locked."""

    db: Queries
    queue: JobQueue
    engine: VolumeEngine
    volume_id: int


async def _delete_data(bench: _Bench, case: Case) -> str:
    await _take_from_guest(bench, case)
    await bench.engine.delete(bench.volume_id)
    return "deleted the data"


async def _abandon(bench: _Bench, case: Case) -> str:
    """A creation that nobody goes on with ends like one that failed."""
    row = _row(case)
    if row.compute_id is not None:
        await take_from_instance(bench.db, row.id, row.compute_id, bench.queue.clock.now())
    await state_queries.set_deleting(bench.db, row.id)
    return await _delete(bench, case)


async def _delete(bench: _Bench, case: Case) -> str:
    row = _row(case)
    actor, args = log.Actor(row.account_id, None), VolumeArgs(volume_id=row.id)
    await jobs.enqueue(bench.queue, bench.db, jobs.DELETE, args, row.label, actor)
    return "a job deletes it"


async def _settle(bench: _Bench, case: Case) -> str:
    await state_queries.set_status(bench.db, bench.volume_id, "active", bench.queue.clock.now())
    return "set its status to active"


async def _lament(bench: _Bench, case: Case) -> str:
    raise UnrepairableError("put the data back, or delete the volume")


async def _fit(bench: _Bench, case: Case) -> str:
    """Data never shrink."""
    row, state = _row(case), _state(case)
    if state.size < row.size:
        await bench.engine.resize(row.spec)
        return f"made them {row.size} GiB"
    await state_queries.set_size(bench.db, row.id, state.size)
    return f"set its size to {state.size} GiB"


async def _take_away(bench: _Bench, case: Case) -> str:
    await _take_from_guest(bench, case)
    return "took it from there"


async def _plug(bench: _Bench, case: Case) -> str:
    assert case.owner is not None
    await bench.engine.plug(bench.volume_id, _row(case).label, case.owner)
    return "plugged it in"


async def _take_from_guest(bench: _Bench, case: Case) -> None:
    guest = _state(case).compute_id
    if guest is not None:
        await bench.engine.unplug(bench.volume_id, guest)


def _row(case: Case) -> VolumeFacts:
    assert case.row is not None
    return case.row


def _state(case: Case) -> VolumeState:
    assert case.state is not None
    return case.state


_REMEDIES: dict[DriftKind, Callable[[_Bench, Case], Awaitable[str]]] = {
    "orphan": _delete_data,
    "unborn": _abandon,
    "undead": _delete,
    "resizing": _settle,
    "missing": _lament,
    "size": _fit,
    "elsewhere": _take_away,
    "unplugged": _plug,
}
