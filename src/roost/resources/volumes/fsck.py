"""`roost fsck` of volumes: rows against data, guests, and the slots of configs."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from roost.core import instance_queries
from roost.core.events import log
from roost.core.fsck import Finding, Installation, UnrepairableError
from roost.core.instance_queries import InstanceFacts
from roost.core.planes import Engines
from roost.core.reconcile import PAGE, Case, ChangedError, Reconciler, check_regions
from roost.resources.compute.configs import device_queries as slots
from roost.resources.compute.configs.device_queries import VolumeSlot
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.locks import resource_of as compute_resource
from roost.resources.volumes import jobs, locks, queries
from roost.resources.volumes.engine import VOLUME_PLANE, VolumeEngine, VolumeState
from roost.resources.volumes.queries import VOLUME, VolumeFacts
from roost.resources.volumes.steps import VolumeArgs, take_from_instance
from roost.store import Queries

DriftKind = Literal[
    "orphan",
    "astray",
    "abroad",
    "creating",
    "deleting",
    "resizing",
    "missing",
    "size",
    "elsewhere",
    "unplugged",
]


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the volume."""

    kind: DriftKind
    text: str


def compare(row: VolumeFacts | None, state: VolumeState | None, owner: int | None) -> Drift | None:
    """The difference to mend first; no job works on the volume.

    `owner` is the instance whose guest runs and should have the volume.
    """
    if row is None:
        return None if state is None else Drift("orphan", "has data, but does not exist")
    if row.deleting:
        return Drift("deleting", "is being deleted, but no job works on it")
    if row.status == "creating":
        return Drift("creating", "is creating, but no job works on it")
    if row.status == "resizing":
        return Drift("resizing", "is resizing, but no job works on it")
    if state is None:
        return Drift("missing", "has lost its data")
    if state.size != row.size:
        return Drift("size", f"is {row.size} GiB, but its data are {state.size} GiB")
    return _compare_guests(row, state, owner)


def _compare_guests(row: VolumeFacts, state: VolumeState, owner: int | None) -> Drift | None:
    """A guest keeps a volume of its instance also when its config leaves that out by now."""
    if state.compute_id is None:
        text = f"is not plugged into instance {owner}, which runs"
        return None if owner is None else Drift("unplugged", text)
    if state.compute_id == row.compute_id:
        return None
    return Drift("elsewhere", f"is plugged into instance {state.compute_id} without being its")


async def check_volumes(installation: Installation) -> AsyncIterator[Finding]:
    """Data and rows of all regions."""
    engines = installation.get(Engines).by_region(VOLUME_PLANE)
    regions = {region: _Volumes(installation, region, each) for region, each in engines.items()}
    used = await queries.regions_in_use(installation.store)
    async for finding in check_regions(regions, "volumes", used):
        yield finding


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the database says; without a row the data are nobody's."""

    row: VolumeFacts | None
    instance: InstanceFacts | None
    """To which the volume is attached."""
    boots_with: bool
    """Whether the instance's guest has the volume while it runs."""

    @property
    def known(self) -> VolumeFacts:
        """The row of a difference that has one."""
        assert self.row is not None
        return self.row


_Case: TypeAlias = Case[int, _Rows, VolumeState, Drift]


@dataclass(frozen=True, slots=True)
class _Volumes(Reconciler[int, _Rows, VolumeState, Drift]):
    region: str
    engine: VolumeEngine

    @property
    def host(self) -> str:
        """On which the engine is."""
        return self.installation.get(Engines).host

    async def held(self) -> Mapping[int, VolumeState | None]:
        return {state.id: state for state in await self.engine.list()}

    async def page(
        self, held: Mapping[int, VolumeState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        """As if all guests ran."""
        store = self.installation.store
        rows = await queries.on_host(store, self.region, self.host, after or 0, limit)
        return {row.id: bool(compare(row, held.get(row.id), row.compute_id)) for row in rows}

    async def read(self, db: Queries, key: int) -> _Rows:
        instance = await _lock_instance(db, key)
        row = await queries.lock_any(db, key)
        if row is None:
            return _Rows(None, None, False)
        resources = await locks.resources(db, key)
        if instance is not None:
            resources.append(compute_resource(instance.id))
        if row.compute_id != (instance and instance.id) or await self.queue.busy(db, *resources):
            raise ChangedError
        return _Rows(row, instance, await _boots_with(db, row, instance))

    async def look(self, key: int, rows: _Rows) -> _Case | None:
        state = await self.engine.inspect(key)
        drift = await self._drift(rows, state)
        return None if drift is None else Case(key, rows, state, drift)

    async def _drift(self, rows: _Rows, state: VolumeState | None) -> Drift | None:
        if rows.row is None or (rows.row.region, rows.row.host) == (self.region, self.host):
            return compare(rows.row, state, await self._owner(rows))
        if state is None:
            return None
        if rows.row.host == self.host:
            return Drift("astray", f"has data, but is in region {rows.row.region}")
        return Drift("abroad", f"has data here, but is on host {rows.row.host}")

    async def _owner(self, rows: _Rows) -> int | None:
        if rows.instance is None or not rows.boots_with:
            return None
        engine = self.installation.get(Engines).on_host(INSTANCE_PLANE, rows.instance)
        guest = await engine.inspect(rows.instance.id)
        return rows.instance.id if guest is not None and guest.power == "running" else None

    def describe(self, case: _Case) -> str:
        return f"volume {case.key} of region {self.region} {case.drift.text}"

    async def mend(self, case: _Case) -> str:
        return await _REMEDIES[case.drift.kind](self, case)


async def _lock_instance(db: Queries, volume_id: int) -> InstanceFacts | None:
    found = await queries.find(db, volume_id)
    if found is None or found.compute_id is None:
        return None
    return await instance_queries.lock_any(db, found.compute_id)


async def _boots_with(db: Queries, row: VolumeFacts, instance: InstanceFacts | None) -> bool:
    """Configs change while a guest runs: one that none names by now may be in it or not."""
    if instance is None or not row.made:
        return False
    return await slots.boots_with(db, instance.id, row.id, unnamed=not row.persist_across_boots)


async def _delete_data(volumes: _Volumes, case: _Case) -> str:
    await _take_away(volumes, case)
    await volumes.engine.delete(case.key)
    return "deleted the data"


async def _send_home(volumes: _Volumes, case: _Case) -> str:
    """Data that its own region has are left of a move, any others are the only ones."""
    row = case.rows.known
    home = volumes.installation.get(Engines).on_host(VOLUME_PLANE, row)
    if await home.inspect(row.id) is not None:
        return await _delete_data(volumes, case)
    await home.take(row.id, volumes.engine)
    return "moved the data there"


async def _keep(volumes: _Volumes, case: _Case) -> str:
    host = case.rows.known.host
    raise UnrepairableError(f"see that host {host} has its data, then delete these")


async def _abandon(volumes: _Volumes, case: _Case) -> str:
    """A creation that nobody goes on with ends like one that failed."""
    row, now = case.rows.known, volumes.queue.clock.now()
    async with volumes.holding(case) as db:
        if row.compute_id is not None:
            await take_from_instance(db, row.id, row.compute_id, now)
        await queries.set_deleting(db, row.id)
        return await _enqueue_delete(db, volumes, row)


async def _delete(volumes: _Volumes, case: _Case) -> str:
    async with volumes.holding(case) as db:
        return await _enqueue_delete(db, volumes, case.rows.known)


async def _enqueue_delete(db: Queries, volumes: _Volumes, row: VolumeFacts) -> str:
    by = log.Starter(volumes.queue, db, row.account_id)
    await log.start(by, jobs.DELETE, VolumeArgs(volume_id=row.id), VOLUME.of(row))
    return "a job deletes it"


async def _settle(volumes: _Volumes, case: _Case) -> str:
    now = volumes.queue.clock.now()
    async with volumes.holding(case) as db:
        await queries.set_status(db, case.key, "active", now)
    return "set its status to active"


async def _refuse(volumes: _Volumes, case: _Case) -> str:
    raise UnrepairableError("put the data back, or delete the volume")


async def _fit(volumes: _Volumes, case: _Case) -> str:
    """Data never shrink."""
    row, state = case.rows.known, case.seen
    assert state is not None
    if state.size < row.size:
        await volumes.engine.resize(row.spec)
        return f"made them {row.size} GiB"
    async with volumes.holding(case) as db:
        await queries.set_size(db, row.id, state.size)
    return f"set its size to {state.size} GiB"


async def _take_away(volumes: _Volumes, case: _Case) -> str:
    if case.seen is not None and case.seen.compute_id is not None:
        await volumes.engine.unplug(case.key, case.seen.compute_id)
    return "took it from there"


async def _plug(volumes: _Volumes, case: _Case) -> str:
    row = case.rows.known
    assert row.compute_id is not None
    await volumes.engine.plug(row.id, row.label, row.compute_id)
    return "plugged it in"


_REMEDIES: dict[DriftKind, Callable[[_Volumes, _Case], Awaitable[str]]] = {
    "orphan": _delete_data,
    "astray": _send_home,
    "abroad": _keep,
    "creating": _abandon,
    "deleting": _delete,
    "resizing": _settle,
    "missing": _refuse,
    "size": _fit,
    "elsewhere": _take_away,
    "unplugged": _plug,
}


async def check_slots(installation: Installation) -> AsyncIterator[Finding]:
    """Slots of all configs that name a volume. A finding is of one slot, which has no key."""
    store, after = installation.store, 0
    while volumes := await queries.all_of_them(store, after, PAGE):
        found = {volume.id: volume for volume in volumes}
        after = volumes[-1].id
        for slot in await slots.volume_slots(store, list(found)):
            if not _keeps(found[slot.volume_id], slot) and await _is_wrong(store, slot):
                text = (
                    f"config {slot.config_id} of instance {slot.compute_id} names volume"
                    f" {slot.volume_id}, which the instance does not keep"
                )
                yield Finding(text, partial(_repair, installation, slot))


def _keeps(volume: VolumeFacts, slot: VolumeSlot) -> bool:
    return volume.compute_id == slot.compute_id and volume.persist_across_boots


async def _is_wrong(db: Queries, slot: VolumeSlot) -> bool:
    """Rows of slots and volumes change together, so a slot that is still there is compared."""
    volume = await queries.find(db, slot.volume_id)
    if volume is None or _keeps(volume, slot):
        return False
    return slot in await slots.volume_slots(db, [slot.volume_id])


async def _repair(installation: Installation, slot: VolumeSlot) -> str:
    async with installation.store.transaction() as db:
        await instance_queries.lock_any(db, slot.compute_id)
        if not await _is_wrong(db, slot):
            return "it is well by now"
        await slots.remove_volume(db, slot.compute_id, slot.volume_id)
    return "freed its slots"
