"""`roost fsck` of instances and their disks: every row against its guest, and back."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from roost.jobs.queue import JobQueue
from roost.resources.compute import engine_queries, jobs, making, queries
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.drift import DriftKind, compare
from roost.resources.compute.engine import EngineError, InstanceEngine, InstanceState
from roost.resources.compute.examine import Case, examine
from roost.resources.compute.guest import InstanceEngines
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.volumes import InstanceVolumes
from roost.resources.compute.watch import follow_power
from roost.resources.events import log
from roost.resources.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.services import Services
from roost.store import Queries

_ROUNDS = 20
"""One repair may show the next difference: a status that is set may lack its guest, or a disk."""


async def check_instances(installation: Installation) -> AsyncIterator[Finding]:
    """Guests and rows of all regions."""
    engines = installation.get(InstanceEngines).by_region
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
        async with installation.store.transaction() as db:
            case = await _examine(installation, db, region, engine, compute_id)
        if case is not None:
            text = f"instance {compute_id} of region {region} {case.drift.text}"
            yield Finding(text, partial(_repair, installation, region, engine, compute_id))


async def _examine(
    installation: Installation, db: Queries, region: str, engine: InstanceEngine, compute_id: int
) -> Case | None:
    """What a job on a volume of the instance still needs is not drift."""
    case = await examine(db, installation.get(JobQueue), engine, region, compute_id)
    busy = installation.get(InstanceVolumes).busy
    return None if case is None or await busy(db, compute_id) else case


async def _repair(
    installation: Installation, region: str, engine: InstanceEngine, compute_id: int
) -> str:
    queue, done = installation.get(JobQueue), []
    for _ in range(_ROUNDS):
        async with installation.store.transaction() as db:
            case = await _examine(installation, db, region, engine, compute_id)
            if case is None:
                break
            bench = _Bench(db, queue, installation.services, engine, compute_id)
            done.append(await _REMEDIES[case.drift.kind](bench, case))
    return ", ".join(done) or "it is well by now"


@dataclass(frozen=True, slots=True)
class _Bench:
    """What a remedy works with; the row is locked."""

    db: Queries
    queue: JobQueue
    services: Services
    engine: InstanceEngine
    compute_id: int


async def _delete_guest(bench: _Bench, case: Case) -> str:
    await bench.engine.delete(bench.compute_id)
    return "deleted the guest"


async def _settle(bench: _Bench, case: Case) -> str:
    """A lost deletion is taken up again; any other status becomes what the guest is."""
    row = _row(case)
    if row.status == "deleting":
        await jobs.enqueue_power(bench.queue, bench.db, jobs.DELETE, row, _nobody(row))
        return "a job deletes it"
    status = "offline" if case.guest is None else case.guest.power
    await queries.set_status(bench.db, row.id, status, bench.queue.clock.now())
    await disks.settle(bench.db, row.id)
    return f"set its status to {status}"


async def _switch_off(bench: _Bench, case: Case) -> str:
    """Nothing empty takes the place of what is lost, which its owner may still get back."""
    row = _row(case)
    if row.status != "running":
        raise UnrepairableError("put its disks back, or rebuild or delete it")
    await queries.set_status(bench.db, row.id, "offline", bench.queue.clock.now())
    await bench.services.get(InstanceVolumes).went_off(bench.db, row.id, bench.queue.clock.now())
    return "set its status to offline"


async def _make_disk(bench: _Bench, case: Case) -> str:
    """Only a swap held nothing."""
    if _row(case).status == "running":
        raise UnrepairableError("what it held is lost when the instance stops")
    disk = _disk(case)
    if disk.filesystem != "swap":
        raise UnrepairableError("put it back, or delete it")
    setups = await making.make(bench.services, bench.engine, [disk])
    await disks.set_made(bench.db, setups, bench.queue.clock.now())
    return "made it again"


async def _delete_disk(bench: _Bench, case: Case) -> str:
    assert case.drift.disk_id is not None
    await bench.engine.disks.delete(bench.compute_id, case.drift.disk_id)
    return "deleted it"


async def _fit_disk(bench: _Bench, case: Case) -> str:
    """What is on a disk is never cut off."""
    disk = _disk(case)
    [size] = [state.size for state in _guest(case).disks if state.id == disk.id]
    if size > disk.size:
        await disks.set_size(bench.db, disk.id, size)
        return f"set its size to {size} MB"
    await bench.engine.disks.resize(disk.spec)
    return f"made it {disk.size} MB large"


async def _follow_power(bench: _Bench, case: Case) -> str:
    volumes = bench.services.get(InstanceVolumes)
    return await follow_power(bench.db, bench.queue, volumes, _row(case), _guest(case))


async def _restart(bench: _Bench, case: Case) -> str:
    """A guest gets its size when it starts."""
    row = _row(case)
    await jobs.enqueue_boot(bench.queue, bench.db, jobs.REBOOT, row, _nobody(row))
    return "a job reboots it"


def _row(case: Case) -> InstanceFacts:
    assert case.row is not None
    return case.row


def _guest(case: Case) -> InstanceState:
    assert case.guest is not None
    return case.guest


def _disk(case: Case) -> DiskFacts:
    return next(disk for disk in case.disks if disk.id == case.drift.disk_id)


def _nobody(row: InstanceFacts) -> log.Actor:
    return log.Actor(row.account_id, None)


_REMEDIES: dict[DriftKind, Callable[[_Bench, Case], Awaitable[str]]] = {
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
