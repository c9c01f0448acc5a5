"""`roost fsck` of instances and their disks: every row against its guest, and back."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.compute import engine_queries, jobs, making, queries
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.drift import Drift, DriftKind, awaits_boot, compare
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine, InstanceState
from roost.resources.compute.entity import resource_of
from roost.resources.compute.lifecycle import clone_queries
from roost.resources.compute.power import follow_power
from roost.resources.compute.queries import InstanceFacts
from roost.store import Queries


async def check_instances(installation: Installation) -> AsyncIterator[Finding]:
    """Guests and rows of all regions."""
    engines = installation.get(Engines).by_region(INSTANCE_PLANE)
    regions = {region: Instances(installation, region, each) for region, each in engines.items()}
    used = await engine_queries.regions_in_use(installation.store)
    async for finding in check_regions(regions, "instances", used):
        yield finding


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database says; without a row the guest is nobody's."""

    row: InstanceFacts | None
    disks: tuple[DiskFacts, ...]

    @property
    def known(self) -> InstanceFacts:
        """Of a difference of which the row is a part."""
        assert self.row is not None
        return self.row


_Case: TypeAlias = Case[int, Rows, InstanceState, Drift]


@dataclass(frozen=True, slots=True)
class Instances(Reconciler[int, Rows, InstanceState, Drift]):
    """Those of a region, each with its guest."""

    region: str
    engine: InstanceEngine
    served: bool = False
    """Whether guests that are off with their host are booted now; else that is no difference."""

    async def held(self) -> Mapping[int, InstanceState | None]:
        return {guest.id: guest for guest in await self.engine.list()}

    async def page(
        self, held: Mapping[int, InstanceState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        rows = await queries.in_region(store, self.region, after or 0, limit)
        owned = await disks.of_instances(store, [row.id for row in rows])
        return {row.id: bool(compare(row, owned.get(row.id, ()), held.get(row.id))) for row in rows}

    async def read(self, db: Queries, key: int) -> Rows:
        """ChangedError also while the instance is needed as it is."""
        row = await queries.lock_any(db, key)
        if row is None or row.region != self.region:
            return Rows(None, ())
        neighbours, queue = self.installation.get(Neighbours), self.queue
        is_busy = await queue.busy(db, resource_of(key)) or await neighbours.busy(db, queue, key)
        if is_busy or await clone_queries.clones(db, key):
            raise ChangedError
        return Rows(row, tuple(await disks.of_instance(db, key)))

    async def look(self, key: int, rows: Rows) -> _Case | None:
        guest = await self.engine.inspect(key)
        drift = compare(rows.row, rows.disks, guest)
        if drift is None or (awaits_boot(drift, guest) and not self.served):
            return None
        return Case(key, rows, guest, drift)

    def describe(self, case: _Case) -> str:
        return f"instance {case.key} of region {self.region} {case.drift.text}"

    async def mend(self, case: _Case) -> str:
        return await _REMEDIES[case.drift.kind](self, case)


async def _delete_guest(instances: Instances, case: _Case) -> str:
    await instances.engine.delete(case.key)
    return "deleted the guest"


async def _settle(instances: Instances, case: _Case) -> str:
    """A lost deletion is taken up again; any other status becomes what the guest is."""
    row, guest = case.rows.known, case.seen
    async with instances.holding(case) as db:
        if row.status == "deleting":
            by = log.Starter(instances.queue, db, row.account_id)
            await jobs.start_power(by, jobs.DELETE, row)
            return "a job deletes it"
        status = "offline" if guest is None else guest.power
        await queries.set_status(db, row.id, status, instances.queue.clock.now())
        await disks.settle(db, row.id)
    return f"set its status to {status}"


async def _switch_off(instances: Instances, case: _Case) -> str:
    """Nothing empty takes the place of what is lost, which its owner may still get back."""
    row, now = case.rows.known, instances.queue.clock.now()
    if row.status != "running":
        raise UnrepairableError("put its disks back, or rebuild or delete it")
    async with instances.holding(case) as db:
        await queries.set_status(db, row.id, "offline", now)
        services = instances.installation.services
        await services.get(Neighbours).went_off(db, services, row.id)
    return "set its status to offline"


async def _make_disk(instances: Instances, case: _Case) -> str:
    """Only a swap held nothing."""
    disk = _disk(case)
    if case.rows.known.status == "running":
        raise UnrepairableError("what it held is lost when the instance stops")
    if disk.filesystem != "swap":
        raise UnrepairableError("put it back, or delete it")
    setups = await making.make(instances.installation.services, instances.engine, [disk])
    async with instances.holding(case) as db:
        await disks.set_made(db, setups, instances.queue.clock.now())
    return "made it again"


async def _delete_disk(instances: Instances, case: _Case) -> str:
    assert case.drift.disk_id is not None
    await instances.engine.disks.delete(case.key, case.drift.disk_id)
    return "deleted it"


async def _fit_disk(instances: Instances, case: _Case) -> str:
    """What is on a disk is never cut off."""
    disk, guest = _disk(case), case.seen
    assert guest is not None
    [size] = [state.size for state in guest.disks if state.id == disk.id]
    if size <= disk.size:
        await instances.engine.disks.resize(disk.spec)
        return f"made it {disk.size} MB large"
    async with instances.holding(case) as db:
        await disks.set_size(db, disk.id, size)
    return f"set its size to {size} MB"


async def _follow_power(instances: Instances, case: _Case) -> str:
    assert case.seen is not None
    async with instances.holding(case) as db:
        services = instances.installation.services
        return await follow_power(db, services, case.rows.known, case.seen)


async def _restart(instances: Instances, case: _Case) -> str:
    """A guest gets its size when it starts."""
    row = case.rows.known
    async with instances.holding(case) as db:
        by = log.Starter(instances.queue, db, row.account_id)
        await jobs.start_boot(by, jobs.REBOOT, row)
    return "a job reboots it"


def _disk(case: _Case) -> DiskFacts:
    return next(disk for disk in case.rows.disks if disk.id == case.drift.disk_id)


_REMEDIES: dict[DriftKind, Callable[[Instances, _Case], Awaitable[str]]] = {
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
