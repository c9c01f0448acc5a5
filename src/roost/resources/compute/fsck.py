"""`roost fsck` of instances and their disks: every row against its guest, and back."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.jobs.queue import JobQueue
from roost.resources.compute import engine_queries, jobs, making, queries
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.drift import DriftKind, awaits_boot, compare
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine, InstanceState
from roost.resources.compute.examine import Case, Examination
from roost.resources.compute.power import follow_power
from roost.resources.compute.queries import InstanceFacts
from roost.services import Services
from roost.store import Queries

_ROUNDS = 20
"""One repair may show the next difference: a status that is set may lack its guest, or a disk."""


async def check_instances(installation: Installation) -> AsyncIterator[Finding]:
    """Guests and rows of all regions."""
    engines = installation.get(Engines).by_region(INSTANCE_PLANE)
    for region, engine in engines.items():
        try:
            async for finding in _check_region(installation, region, engine):
                yield finding
        except EngineError as error:
            yield unrepairable(f"region {region}: its instances cannot be seen", str(error))
    for region in await engine_queries.regions_in_use(installation.store):
        if region not in engines:
            text = f"region {region}: it has instances, but is not in the catalogue"
            yield unrepairable(text, "add it to the catalogue")


async def _check_region(
    installation: Installation, region: str, engine: InstanceEngine
) -> AsyncIterator[Finding]:
    """Guests are listed before rows: a row is there before its guest."""
    guests = {guest.id: guest for guest in await engine.list()}
    rows = {row.id: row for row in await queries.in_region(installation.store, region)}
    owned = await disks.in_region(installation.store, region)
    for compute_id in sorted({*guests, *rows}):
        row, held = rows.get(compute_id), owned.get(compute_id, [])
        if compare(row, held, guests.get(compute_id)) is None:
            continue
        examination = Examination(installation, region, engine, compute_id)
        case = await examination.confirmed()
        if case is not None and not awaits_boot(case.drift, case.guest):
            text = f"instance {compute_id} of region {region} {case.drift.text}"
            yield Finding(text, partial(_repair, examination))


async def _repair(examination: Examination) -> str:
    done: list[str] = []
    for _ in range(_ROUNDS):
        case = await examination.confirmed()
        if case is None or awaits_boot(case.drift, case.guest):
            break
        done.append(await _REMEDIES[case.drift.kind](_Mending(examination, case)))
    return ", ".join(done) or "it is well by now"


@dataclass(frozen=True, slots=True)
class _Mending:
    """What a remedy works with. It asks the engine for something only while it holds no rows."""

    examination: Examination
    case: Case

    @property
    def compute_id(self) -> int:
        return self.examination.compute_id

    @property
    def engine(self) -> InstanceEngine:
        return self.examination.engine

    @property
    def services(self) -> Services:
        return self.examination.installation.services

    @property
    def queue(self) -> JobQueue:
        return self.services.get(JobQueue)

    @property
    def row(self) -> InstanceFacts:
        assert self.case.row is not None
        return self.case.row

    @property
    def guest(self) -> InstanceState:
        assert self.case.guest is not None
        return self.case.guest

    @property
    def disk(self) -> DiskFacts:
        return next(disk for disk in self.case.rows.disks if disk.id == self.case.drift.disk_id)

    @property
    def nobody(self) -> log.Actor:
        return log.Actor(self.row.account_id, None)

    def holding(self) -> AbstractAsyncContextManager[Queries]:
        """A transaction that holds the rows. Raises ChangedError."""
        return self.examination.holding(self.case)


async def _delete_guest(mending: _Mending) -> str:
    await mending.engine.delete(mending.compute_id)
    return "deleted the guest"


async def _settle(mending: _Mending) -> str:
    """A lost deletion is taken up again; any other status becomes what the guest is."""
    row, guest = mending.row, mending.case.guest
    async with mending.holding() as db:
        if row.status == "deleting":
            await jobs.enqueue_power(mending.queue, db, jobs.DELETE, row, mending.nobody)
            return "a job deletes it"
        status = "offline" if guest is None else guest.power
        await queries.set_status(db, row.id, status, mending.queue.clock.now())
        await disks.settle(db, row.id)
    return f"set its status to {status}"


async def _switch_off(mending: _Mending) -> str:
    """Nothing empty takes the place of what is lost, which its owner may still get back."""
    row, now = mending.row, mending.queue.clock.now()
    if row.status != "running":
        raise UnrepairableError("put its disks back, or rebuild or delete it")
    async with mending.holding() as db:
        await queries.set_status(db, row.id, "offline", now)
        await mending.services.get(Neighbours).went_off(db, mending.services, row.id)
    return "set its status to offline"


async def _make_disk(mending: _Mending) -> str:
    """Only a swap held nothing."""
    if mending.row.status == "running":
        raise UnrepairableError("what it held is lost when the instance stops")
    if mending.disk.filesystem != "swap":
        raise UnrepairableError("put it back, or delete it")
    setups = await making.make(mending.services, mending.engine, [mending.disk])
    async with mending.holding() as db:
        await disks.set_made(db, setups, mending.queue.clock.now())
    return "made it again"


async def _delete_disk(mending: _Mending) -> str:
    assert mending.case.drift.disk_id is not None
    await mending.engine.disks.delete(mending.compute_id, mending.case.drift.disk_id)
    return "deleted it"


async def _fit_disk(mending: _Mending) -> str:
    """What is on a disk is never cut off."""
    disk = mending.disk
    [size] = [state.size for state in mending.guest.disks if state.id == disk.id]
    if size <= disk.size:
        await mending.engine.disks.resize(disk.spec)
        return f"made it {disk.size} MB large"
    async with mending.holding() as db:
        await disks.set_size(db, disk.id, size)
    return f"set its size to {size} MB"


async def _follow_power(mending: _Mending) -> str:
    async with mending.holding() as db:
        return await follow_power(db, mending.services, mending.row, mending.guest)


async def _restart(mending: _Mending) -> str:
    """A guest gets its size when it starts."""
    async with mending.holding() as db:
        await jobs.enqueue_boot(mending.queue, db, jobs.REBOOT, mending.row, mending.nobody)
    return "a job reboots it"


_REMEDIES: dict[DriftKind, Callable[[_Mending], Awaitable[str]]] = {
    "orphan": _delete_guest,
    "remains": _delete_guest,
    "stuck": _settle,
    "missing": _switch_off,
    "power": _follow_power,
    "size": _restart,
    "lost disk": _make_disk,
    "stray disk": _delete_disk,
    "disk size": _fit_disk,
}
