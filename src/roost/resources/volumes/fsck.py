"""`roost fsck` of volumes: every row against its data, and against the guest that has it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.core.planes import Engines
from roost.jobs.queue import JobQueue
from roost.resources.volumes import jobs, queries, state_queries
from roost.resources.volumes.args import VolumeArgs
from roost.resources.volumes.drift import DriftKind
from roost.resources.volumes.effects import take_from_instance
from roost.resources.volumes.engine import VOLUME_PLANE, VolumeEngine, VolumeState
from roost.resources.volumes.examine import Case, Examination
from roost.resources.volumes.queries import VolumeFacts
from roost.store import Queries

_ROUNDS = 3
"""One repair may show the next difference: a volume that rests may have the wrong size."""


async def check_volumes(installation: Installation) -> AsyncIterator[Finding]:
    """Data and rows of all regions."""
    engines = installation.get(Engines).by_region(VOLUME_PLANE)
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
        examination = Examination(installation, region, engine, volume_id)
        case = await examination.confirmed()
        if case is not None:
            text = f"volume {volume_id} of region {region} {case.drift.text}"
            yield Finding(text, partial(_repair, examination))


async def _repair(examination: Examination) -> str:
    done: list[str] = []
    for _ in range(_ROUNDS):
        case = await examination.confirmed()
        if case is None:
            break
        done.append(await _REMEDIES[case.drift.kind](_Mending(examination, case)))
    return ", ".join(done) or "it is well by now"


@dataclass(frozen=True, slots=True)
class _Mending:
    """What a remedy works with. It asks the engine for something only while it holds no rows."""

    examination: Examination
    case: Case

    @property
    def volume_id(self) -> int:
        return self.examination.volume_id

    @property
    def engine(self) -> VolumeEngine:
        return self.examination.engine

    @property
    def queue(self) -> JobQueue:
        return self.examination.installation.get(JobQueue)

    @property
    def row(self) -> VolumeFacts:
        assert self.case.row is not None
        return self.case.row

    @property
    def state(self) -> VolumeState:
        assert self.case.state is not None
        return self.case.state

    def holding(self) -> AbstractAsyncContextManager[Queries]:
        """A transaction that holds the rows. Raises ChangedError."""
        return self.examination.holding(self.case)


async def _delete_data(mending: _Mending) -> str:
    await _take_from_guest(mending)
    await mending.engine.delete(mending.volume_id)
    return "deleted the data"


async def _abandon(mending: _Mending) -> str:
    """A creation that nobody goes on with ends like one that failed."""
    row, now = mending.row, mending.queue.clock.now()
    async with mending.holding() as db:
        if row.compute_id is not None:
            await take_from_instance(db, row.id, row.compute_id, now)
        await state_queries.set_deleting(db, row.id)
        await _enqueue_delete(db, mending)
    return "a job deletes it"


async def _delete(mending: _Mending) -> str:
    async with mending.holding() as db:
        await _enqueue_delete(db, mending)
    return "a job deletes it"


async def _enqueue_delete(db: Queries, mending: _Mending) -> None:
    row = mending.row
    actor, args = log.Actor(row.account_id, None), VolumeArgs(volume_id=row.id)
    await jobs.enqueue(mending.queue, db, jobs.DELETE, args, row.label, actor)


async def _settle(mending: _Mending) -> str:
    now = mending.queue.clock.now()
    async with mending.holding() as db:
        await state_queries.set_status(db, mending.volume_id, "active", now)
    return "set its status to active"


async def _lament(mending: _Mending) -> str:
    raise UnrepairableError("put the data back, or delete the volume")


async def _fit(mending: _Mending) -> str:
    """Data never shrink."""
    row, state = mending.row, mending.state
    if state.size < row.size:
        await mending.engine.resize(row.spec)
        return f"made them {row.size} GiB"
    async with mending.holding() as db:
        await state_queries.set_size(db, row.id, state.size)
    return f"set its size to {state.size} GiB"


async def _take_away(mending: _Mending) -> str:
    await _take_from_guest(mending)
    return "took it from there"


async def _plug(mending: _Mending) -> str:
    assert mending.case.owner is not None
    await mending.engine.plug(mending.volume_id, mending.row.label, mending.case.owner)
    return "plugged it in"


async def _take_from_guest(mending: _Mending) -> None:
    guest = mending.state.compute_id
    if guest is not None:
        await mending.engine.unplug(mending.volume_id, guest)


_REMEDIES: dict[DriftKind, Callable[[_Mending], Awaitable[str]]] = {
    "orphan": _delete_data,
    "creating": _abandon,
    "deleting": _delete,
    "resizing": _settle,
    "missing": _lament,
    "size": _fit,
    "elsewhere": _take_away,
    "unplugged": _plug,
}
