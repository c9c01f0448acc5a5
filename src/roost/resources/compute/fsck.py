"""`roost fsck` of instances and their disks: every row against its guest, and back."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core import instance_queries
from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.compute import jobs, queries, totals_queries
from roost.resources.compute.disk_engine import DiskState
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.jobs import make_disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine, InstanceState
from roost.resources.compute.locks import resource_of
from roost.resources.compute.power_service import follow_power
from roost.store import Queries

DriftKind = Literal[
    "orphan",
    "astray",
    "abroad",
    "stuck",
    "missing",
    "remains",
    "power",
    "size",
    "lost disk",
    "stray disk",
    "disk size",
]

_SETTLED: tuple[InstanceStatus, ...] = ("running", "offline", "stopped", "billing_suspension")
_POWERED: tuple[InstanceStatus, ...] = ("running", "offline")


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the instance."""

    kind: DriftKind
    text: str
    disk_id: int | None = None
    """Of a difference of one disk."""


def compare(
    row: InstanceFacts | None, disks: Sequence[DiskFacts], guest: InstanceState | None
) -> Drift | None:
    """The difference to mend first. All are of one region, and no job works on them."""
    if row is None:
        return None if guest is None else Drift("orphan", "has a guest, but does not exist")
    if row.status not in _SETTLED:
        return Drift("stuck", f"is {row.status}, but no job works on it")
    made = any(disk.made for disk in disks)
    if guest is None:
        gone = made or row.status == "running"
        return Drift("missing", f"is {row.status}, but its guest is gone") if gone else None
    if not made and guest.disks and (row.status, guest.power) == ("offline", "offline"):
        return Drift("remains", "has a guest that was only half made")
    if power_differs(row.status, guest):
        return Drift("power", f"is {row.status}, but its guest is {guest.power}")
    return _compare_size(row, guest) or _compare_disks(disks, guest.disks)


def power_differs(status: InstanceStatus, guest: InstanceState | None) -> bool:
    """Whether a guest is on or off while its row says otherwise."""
    return status in _POWERED and guest is not None and status != guest.power


def awaits_boot(drift: Drift, guest: InstanceState | None) -> bool:
    """Whether a guest is off only until Roost is served again on its host, which then boots it."""
    return drift.kind == "power" and guest is not None and guest.interrupted


def _compare_size(row: InstanceFacts, guest: InstanceState) -> Drift | None:
    """How a running guest differs in size; one that is offline gets its size when it starts."""
    if guest.power == "offline":
        return None
    # With a limit in its config a guest has less memory than its plan.
    memory = min(row.memory, guest.memory) if row.memory_limit else row.memory
    sizes = (("vCPUs", guest.vcpus, row.vcpus), ("MB of memory", guest.memory, memory))
    wrong = [f"{has} {unit} instead of {wanted}" for unit, has, wanted in sizes if has != wanted]
    return Drift("size", f"runs with {', '.join(wrong)}") if wrong else None


def _compare_disks(rows: Sequence[DiskFacts], held: Sequence[DiskState]) -> Drift | None:
    wanted = {disk.id: disk for disk in rows if disk.made}
    found = {disk.id: disk for disk in held}
    for disk in wanted.values():
        state = found.get(disk.id)
        if state is None or state.size == 0:
            return Drift("lost disk", f"has lost disk {disk.id}", disk.id)
        if state.size != disk.size:
            sizes = f"{state.size} MB instead of {disk.size}"
            return Drift("disk size", f"has disk {disk.id} with {sizes}", disk.id)
    for disk_id in found.keys() - wanted.keys():
        text = f"holds disk {disk_id}, which does not exist"
        return Drift("stray disk", text, disk_id)
    return None


async def check_instances(installation: Installation) -> AsyncIterator[Finding]:
    """Guests and rows of all regions."""
    engines = installation.get(Engines).by_region(INSTANCE_PLANE)
    regions = {region: Instances(installation, region, each) for region, each in engines.items()}
    used = await totals_queries.regions_in_use(installation.store)
    async for finding in check_regions(regions, "instances", used):
        yield finding


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database says; without a row the guest is nobody's."""

    row: InstanceFacts | None
    disks: tuple[DiskFacts, ...]

    @property
    def known(self) -> InstanceFacts:
        """The row of a difference that has one."""
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

    @property
    def host(self) -> str:
        """On which the engine is."""
        return self.installation.get(Engines).host

    async def held(self) -> Mapping[int, InstanceState | None]:
        return {guest.id: guest for guest in await self.engine.list()}

    async def page(
        self, held: Mapping[int, InstanceState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        rows = await instance_queries.on_host(store, self.region, self.host, after or 0, limit)
        owned = await disks.of_instances(store, [row.id for row in rows])
        return {row.id: bool(compare(row, owned.get(row.id, ()), held.get(row.id))) for row in rows}

    async def read(self, db: Queries, key: int) -> Rows:
        """ChangedError also while the instance is needed as it is."""
        row = await instance_queries.lock_any(db, key)
        if row is None:
            return Rows(None, ())
        neighbours, queue = self.installation.get(Neighbours), self.queue
        is_busy = await queue.busy(db, resource_of(key)) or await neighbours.busy(db, queue, key)
        if is_busy or await queries.clones(db, key):
            raise ChangedError
        return Rows(row, tuple(await disks.of_instance(db, key)))

    async def look(self, key: int, rows: Rows) -> _Case | None:
        guest = await self.engine.inspect(key)
        drift = self._drift(rows, guest)
        if drift is None or (awaits_boot(drift, guest) and not self.served):
            return None
        return Case(key, rows, guest, drift)

    def _drift(self, rows: Rows, guest: InstanceState | None) -> Drift | None:
        if rows.row is None or (rows.row.region, rows.row.host) == (self.region, self.host):
            return compare(rows.row, rows.disks, guest)
        if guest is None:
            return None
        if rows.row.host == self.host:
            return Drift("astray", f"has a guest, but is in region {rows.row.region}")
        runs = " that runs" if guest.power == "running" else ""
        return Drift("abroad", f"has a guest{runs} here, but is on host {rows.row.host}")

    def describe(self, case: _Case) -> str:
        return f"instance {case.key} of region {self.region} {case.drift.text}"

    async def mend(self, case: _Case) -> str:
        return await _REMEDIES[case.drift.kind](self, case)


async def _delete_guest(instances: Instances, case: _Case) -> str:
    await instances.engine.delete(case.key)
    return "deleted the guest"


async def _send_home(instances: Instances, case: _Case) -> str:
    """A guest that its own region has is what is left of a move, any other one is the only one."""
    row = case.rows.known
    home = instances.installation.get(Engines).on_host(INSTANCE_PLANE, row)
    if await home.inspect(row.id) is not None:
        return await _delete_guest(instances, case)
    await home.take(row.id, instances.engine, [])
    return "moved the guest there"


async def _stop_double(instances: Instances, case: _Case) -> str:
    """What is left of a guest that went to another host must not run beside it; its disks stay
    until somebody has seen that they are there as well."""
    if case.seen is None or case.seen.power != "running":
        row = case.rows.known
        raise UnrepairableError(f"see that host {row.host} has its disks, then delete these")
    await instances.engine.stop(case.key, 0)
    return "stopped it"


async def _settle(instances: Instances, case: _Case) -> str:
    """A lost deletion is taken up again; any other status becomes what the guest is."""
    row, guest = case.rows.known, case.seen
    async with instances.holding(case) as db:
        if row.status == "deleting":
            by = log.Starter(instances.queue, db, row.account_id)
            await jobs.start_delete(by, row)
            return "a job deletes it"
        status = "offline" if guest is None else guest.power
        await instance_queries.set_status(db, row.id, status, instances.queue.clock.now())
        await disks.settle(db, row.id)
    return f"set its status to {status}"


async def _switch_off(instances: Instances, case: _Case) -> str:
    """Nothing empty takes the place of what is lost, which its owner may still get back."""
    row, now = case.rows.known, instances.queue.clock.now()
    if row.status != "running":
        raise UnrepairableError("put its disks back, or rebuild or delete it")
    async with instances.holding(case) as db:
        await instance_queries.set_status(db, row.id, "offline", now)
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
    setups = await make_disks(instances.installation.services, instances.engine, [disk])
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
    "astray": _send_home,
    "abroad": _stop_double,
    "remains": _delete_guest,
    "stuck": _settle,
    "missing": _switch_off,
    "power": _follow_power,
    "size": _restart,
    "lost disk": _make_disk,
    "stray disk": _delete_disk,
    "disk size": _fit_disk,
}
