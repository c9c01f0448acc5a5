"""What only the simulated engines do: planned faults, latencies, marks, and saved states."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import get_args

import pytest
import pytest_asyncio

from roost.clock import Clock
from roost.core.engine import EngineError
from roost.engines.simulated.databases import SimulatedDatabases
from roost.engines.simulated.firewalls import SimulatedFirewalls
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.nodebalancers import SimulatedBalancers
from roost.engines.simulated.objects import SimulatedObjects
from roost.engines.simulated.plane import Operation
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import InstanceSpec, MountedError
from roost.resources.compute.overlay_engine import Overlay, RemoteAddress
from roost.resources.databases.engine import DatabaseShape, DatabaseSpec
from roost.resources.firewalls.engine import FirewallSpec, RuleSet
from roost.resources.nodebalancers.engine import BalancerSpec, NodeSpec
from roost.resources.object_storage.engine import BucketSpec, KeySpec
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from roost.waiting import NotYetError, may_leave
from tests.engines.balancer_harness import QUICK, config
from tests.engines.harness import Pools, counters_of, ignore, until

ID = 100_001
DISK = DiskSpec(ID, ID, 64, "ext4", "roost/mini")
COPY = DiskSpec(ID + 1, ID, 64, "ext4")
BUCKET = BucketSpec("photos", "1-20300131", "private", False)
KEY = KeySpec("key-1", "access", "secret", ())
VOLUME, CLONE = VolumeSpec(ID, 20), VolumeSpec(ID + 1, 20)
FIREWALL = FirewallSpec(ID, RuleSet((), "DROP", (), "ACCEPT"), frozenset({"192.0.2.1"}))
BALANCER = BalancerSpec(ID, 1, "192.0.2.2", 0, ())
SHAPE = DatabaseShape("mysql", "8.0.30", 1, "none", encrypted=False, ssl_connection=True)
DATABASE = DatabaseSpec(ID, SHAPE, 1, 1024, 2048, (), "roostadmin", "a password")


@dataclass(frozen=True, slots=True)
class Region:
    """A guest with one disk, off and set aside, a volume, a firewall, a database with a backup."""

    instances: SimulatedInstances
    volumes: SimulatedVolumes
    firewalls: SimulatedFirewalls
    databases: SimulatedDatabases
    objects: SimulatedObjects
    balancers: SimulatedBalancers

    async def call(self, operation: Operation) -> None:
        engine, volumes = self.instances, self.volumes
        firewalls, databases, objects = self.firewalls, self.databases, self.objects
        calls: dict[Operation, Callable[[], Awaitable[object]]] = {
            "start": lambda: engine.start(SPEC),
            "stop": lambda: engine.stop(ID, 0),
            "delete": lambda: engine.delete(ID),
            "take": lambda: engine.take(ID, engine, ()),
            "pack": lambda: anext(engine.pack(ID, ())),
            "unpack": lambda: engine.unpack(ID, (), engine.pack(ID, ())),
            "inspect": lambda: engine.inspect(ID),
            "disk_make": lambda: engine.disks.make(DISK),
            "disk_resize": lambda: engine.disks.resize(DISK),
            "disk_copy": lambda: engine.disks.copy(DISK, COPY, ignore),
            "disk_delete": lambda: engine.disks.delete(ID, ID),
            "disk_inspect": lambda: engine.disks.inspect(ID, ID),
            "backup_save": lambda: engine.backups.save(ID, [DISK], ignore),
            "backup_restore": lambda: engine.backups.restore(ID, ID, DISK, ignore),
            "backup_delete": lambda: engine.backups.delete(ID),
            "image_capture": lambda: engine.images.capture(
                ID, DISK, 6144, cloud_init=False, progress=ignore
            ),
            "image_set_aside": lambda: engine.images.set_aside(ID, DISK, 6144),
            "image_finish": lambda: engine.images.finish(ID, cloud_init=False, progress=ignore),
            "image_keep": lambda: engine.images.keep(
                ID, Path(__file__), 6144, cloud_init=False, progress=ignore
            ),
            "image_delete": lambda: engine.images.delete(ID),
            "volume_create": lambda: volumes.create(VOLUME),
            "volume_copy": lambda: volumes.copy(ID, CLONE, ignore),
            "volume_resize": lambda: volumes.resize(VOLUME),
            "volume_delete": lambda: volumes.delete(ID),
            "volume_plug": lambda: volumes.plug(ID, "label", ID),
            "volume_unplug": lambda: volumes.unplug(ID, ID),
            "volume_take": lambda: volumes.take(ID, volumes),
            "volume_inspect": lambda: volumes.inspect(ID),
            "addresses_set": lambda: engine.addresses.set(SPEC.addresses),
            "addresses_list": engine.addresses.list,
            "overlay_set": lambda: engine.overlay.set(Overlay()),
            "firewall_apply": lambda: firewalls.apply(FIREWALL),
            "firewall_remove": lambda: firewalls.remove(ID),
            "firewall_list": firewalls.list,
            "nodebalancer_apply": lambda: self.balancers.apply(BALANCER),
            "nodebalancer_remove": lambda: self.balancers.remove(ID),
            "nodebalancer_list": self.balancers.list,
            "volume_pack": lambda: anext(volumes.pack(ID)),
            "volume_unpack": lambda: volumes.unpack(ID, volumes.pack(ID)),
            "database_create": lambda: databases.create(DATABASE),
            "database_ensure": lambda: databases.ensure(DATABASE),
            "database_rebuild": lambda: databases.rebuild(DATABASE),
            "database_rest": lambda: databases.rest(ID),
            "database_restart": lambda: databases.restart(DATABASE),
            "database_allow": lambda: databases.set_allow_list(ID, ("192.0.2.0/24",)),
            "database_password": lambda: databases.set_password(DATABASE),
            "database_backup": lambda: databases.back_up(ID, ID + 1, replica=False),
            "database_restore": lambda: databases.restore(DATABASE, ID),
            "database_archive": lambda: databases.archive(ID, 1),
            "database_limit": lambda: databases.limit_writes(DATABASE),
            "database_free": lambda: databases.free(ID),
            "database_verify": lambda: databases.verify(DATABASE, ID),
            "database_backup_delete": lambda: databases.delete_backup(ID, ID),
            "database_delete": lambda: databases.delete(ID),
            "database_inspect": lambda: databases.inspect(ID),
            "bucket_put": lambda: objects.put_bucket(BUCKET),
            "bucket_delete": lambda: objects.delete_bucket(BUCKET.name, BUCKET.mark),
            "bucket_close": lambda: objects.close_bucket(BUCKET),
            "bucket_purge": lambda: objects.purge_bucket(BUCKET.name, BUCKET.mark),
            "key_put": lambda: objects.put_key(KEY),
            "key_delete": lambda: objects.delete_key(KEY.name),
        }
        await calls[operation]()

    async def held(self) -> tuple[object, ...]:
        """All that the engines list, but for firewalls, whose list may be what fails."""
        instances, volumes = await self.instances.list(), await self.volumes.list()
        return instances, volumes, await self.databases.list()

    async def close(self) -> None:
        await self.instances.close()
        await self.volumes.close()
        await self.firewalls.close()
        await self.databases.close()
        await self.objects.close()
        await self.balancers.close()


SPEC = Pools(0).spec(ID)


def open_region(state_dir: Path) -> Region:
    instances = SimulatedInstances(state_dir, latency=0, clock=Clock())
    return Region(
        instances,
        SimulatedVolumes(state_dir, latency=0),
        SimulatedFirewalls(state_dir, latency=0),
        SimulatedDatabases(state_dir, latency=0, zone="us-lake", clock=Clock()),
        SimulatedObjects(state_dir, latency=0),
        SimulatedBalancers(state_dir, latency=0),
    )


@pytest_asyncio.fixture
async def region(tmp_path: Path) -> AsyncIterator[Region]:
    region = open_region(tmp_path)
    await region.instances.disks.make(DISK)
    await region.instances.images.set_aside(ID, DISK, 6144)
    await region.volumes.create(VOLUME)
    await region.firewalls.apply(FIREWALL)
    await region.databases.create(DATABASE)
    await region.databases.back_up(ID, ID, replica=False)
    yield region
    await region.close()


@pytest.fixture
def engine(region: Region) -> SimulatedInstances:
    return region.instances


@pytest.fixture
def spec() -> InstanceSpec:
    return SPEC


LIVE = [each for each in get_args(Operation) if each.startswith("live_")]
"""What is done with a guest that runs, and with another host."""


@pytest.mark.parametrize("operation", [each for each in get_args(Operation) if each not in LIVE])
async def test_a_planned_fault_fails_as_many_calls_as_asked(
    region: Region, operation: Operation
) -> None:
    before = await region.held()
    await region.instances.plan.fail(operation, "The disk is full", calls=2)
    for _ in range(2):
        with pytest.raises(EngineError, match=r"^The disk is full$"):
            await region.call(operation)
    assert await region.held() == before
    await region.call(operation)


@pytest.mark.parametrize("operation", LIVE)
async def test_a_planned_fault_fails_a_step_of_a_live_move(
    region: Region, tmp_path: Path, operation: Operation
) -> None:
    here, address = region.instances, IPv4Address("127.0.0.1")
    there = SimulatedInstances(tmp_path / "there", latency=0, clock=Clock())
    await here.start(SPEC)

    async def move() -> None:
        offer = await here.live.offer(ID, address)
        destination = await there.live.receive(SPEC, offer, address)
        await here.live.send(ID, destination, None, ignore)
        await there.live.turn_away(ID)
        await here.live.stay(ID)
        offer = await here.live.offer(ID, address)
        destination = await there.live.receive(SPEC, offer, address)
        await here.live.send(ID, destination, None, ignore)
        await there.live.enter(SPEC)

    for engine in (here, there):
        await engine.plan.fail(operation, "The disk is full", calls=1)
    with pytest.raises(EngineError, match=r"^The disk is full$"):
        await move()
    assert await there.list() == []
    for engine in (here, there):
        await engine.plan.mend(operation)
    await move()
    assert len(await there.list()) == 1
    await there.close()


async def test_a_fault_without_end_holds_until_it_is_mended(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.plan.fail("start", "No capacity")
    assert (await engine.plan.faults())["start"].reason == "No capacity"
    for _ in range(3):
        with pytest.raises(EngineError):
            await engine.start(spec)
    await engine.plan.mend("start")
    await engine.start(spec)


async def test_a_fault_reaches_the_engine_of_another_process(
    engine: SimulatedInstances, spec: InstanceSpec, tmp_path: Path
) -> None:
    program = (
        "import asyncio, sys, pathlib; from roost.clock import Clock;"
        "from roost.engines.simulated.instances import SimulatedInstances;"
        "engine = SimulatedInstances(pathlib.Path(sys.argv[1]), 0, Clock());"
        "asyncio.run(engine.plan.fail('start', 'from afar', 1))"
    )
    await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program, str(tmp_path)], check=True
    )
    with pytest.raises(EngineError, match="from afar"):
        await engine.start(spec)
    await engine.start(spec)


async def test_calls_from_two_engines_share_the_planned_failures(
    engine: SimulatedInstances, spec: InstanceSpec, tmp_path: Path
) -> None:
    other = SimulatedInstances(tmp_path, latency=0, clock=Clock())
    await engine.plan.fail("start", "busy", calls=3)
    calls = [each.start(spec) for each in (engine, other) for _ in range(4)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(result, EngineError) for result in results) == 3
    await other.close()


async def test_latency_is_set_while_running(region: Region) -> None:
    plan, disks = region.instances.plan, region.instances.disks
    await plan.set_latency(60)
    await plan.set_latency(0, "disk_delete")
    assert await plan.latency("start") == 60
    slow = asyncio.create_task(disks.copy(DISK, COPY, ignore))
    await until(lambda: disks.inspect(ID, COPY.id), lambda state: state is not None)
    assert not slow.done()
    slow.cancel()
    await asyncio.wait_for(disks.delete(ID, COPY.id), 30)
    assert await disks.inspect(ID, COPY.id) is None


@pytest.mark.parametrize("operation", ["start", None])
async def test_what_no_latency_ends_begins_anew_with_the_next(
    engine: SimulatedInstances, spec: InstanceSpec, operation: str | None
) -> None:
    with may_leave():
        await engine.plan.set_latency(60, operation)
        with pytest.raises(NotYetError):
            await engine.plan.wait("start", "one")
        await engine.plan.set_latency(0, operation)
        await engine.plan.wait("start", "one")
        await engine.plan.set_latency(60, operation)
        with pytest.raises(NotYetError) as again:
            await engine.plan.wait("start", "one")
    assert again.value.seconds == 60


async def test_a_plan_refuses_nonsense(engine: SimulatedInstances) -> None:
    with pytest.raises(ValueError, match="calls"):
        await engine.plan.fail("start", "x", calls=0)
    with pytest.raises(ValueError, match="negative"):
        await engine.plan.set_latency(-1)


async def test_a_stop_takes_no_longer_than_its_grace(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.start(spec)
    await engine.plan.set_latency(60)
    await asyncio.wait_for(engine.stop(spec.id, 0.01), 30)


async def test_a_guest_deleted_during_its_start_stays_gone(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.plan.set_latency(2, "start")
    start = asyncio.create_task(engine.start(spec))
    await asyncio.sleep(0)
    await engine.delete(spec.id)
    with pytest.raises(EngineError):
        await start
    assert await engine.list() == []


async def test_a_snapshot_brings_back_guests_and_plans(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.start(spec)
    await engine.plan.fail("stop", "stuck")
    saved = await engine.snapshot()
    before = await engine.list()
    await engine.reset()
    assert await engine.list() == []
    assert await engine.plan.faults() == {}
    await engine.restore(saved)
    assert await engine.list() == before
    with pytest.raises(EngineError, match="stuck"):
        await engine.stop(spec.id, 0)


async def test_a_broken_snapshot_changes_nothing(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    with pytest.raises(ValueError, match="JSON"):
        await engine.restore(b"not a snapshot")
    assert len(await engine.list()) == 1


async def test_a_snapshot_of_instances_has_the_volumes_too(region: Region) -> None:
    await region.instances.start(SPEC)
    await region.volumes.plug(ID, "label", ID)
    await region.volumes.write(ID, "before")
    saved = await region.instances.snapshot()
    await region.volumes.write(ID, "after")
    await region.instances.reset()
    assert await region.volumes.list() == []
    await region.instances.restore(saved)
    assert await region.volumes.read(ID) == "before"
    assert await region.volumes.list() == [VolumeState(ID, 20, ID)]


async def test_a_mounted_volume_is_not_unplugged(region: Region) -> None:
    with pytest.raises(EngineError, match="No running instance has the volume"):
        await region.volumes.mount(ID)
    await region.instances.start(SPEC)
    await region.volumes.plug(ID, "label", ID)
    await region.volumes.mount(ID)
    with pytest.raises(MountedError, match="unmount it first, or shut the instance down"):
        await region.volumes.unplug(ID, ID)
    assert await region.volumes.inspect(ID) == VolumeState(ID, 20, ID)
    await region.volumes.mount(ID, mounted=False)
    await region.volumes.unplug(ID, ID)
    assert await region.volumes.inspect(ID) == VolumeState(ID, 20, None)


async def test_a_guest_that_ends_has_nothing_mounted(region: Region) -> None:
    for _ in range(2):
        await region.instances.start(SPEC)
        await region.volumes.plug(ID, "label", ID)
        await region.volumes.mount(ID)
        await region.instances.crash(ID)
    await region.instances.start(SPEC)
    await region.volumes.plug(ID, "label", ID)
    await region.volumes.unplug(ID, ID)


async def test_a_disk_keeps_the_room_that_its_content_needs(region: Region) -> None:
    disks = region.instances.disks
    await disks.write(ID, ID, "much", used=50)
    with pytest.raises(EngineError, match="needs more room"):
        await disks.resize(DiskSpec(ID, ID, 49, "ext4"))
    await disks.copy(DISK, COPY, ignore)
    with pytest.raises(EngineError, match="needs more room"):
        await disks.resize(DiskSpec(COPY.id, ID, 49, "ext4"))
    await disks.resize(DiskSpec(ID, ID, 50, "ext4"))
    assert await disks.read(ID, ID) == "much"


async def test_what_vanishes_is_missed(region: Region) -> None:
    await region.volumes.lose(ID)
    assert await region.volumes.inspect(ID) is None
    await region.instances.disks.lose(ID, ID)
    assert await region.instances.list() == []


async def test_counters_follow_the_clock(tmp_path: Path, spec: InstanceSpec) -> None:
    clock = Clock()
    engine = SimulatedInstances(tmp_path, latency=0, clock=clock)
    await engine.disks.make(DISK)
    await engine.start(spec)
    clock.advance(timedelta(days=1))
    counters = await counters_of(engine, spec.id)
    assert counters is not None
    assert counters.traffic.ipv4_out >= 9_000 * 86_400
    assert counters.disks[DISK.id] >= 13_000 * 86_400
    await engine.shut_down()
    assert await counters_of(engine, spec.id) is None
    await engine.close()


async def test_a_job_is_told_how_long_a_transition_still_takes(
    region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked again then; others wait."""
    volumes, told = region.volumes, list[int]()

    async def progress(percent: int) -> None:
        told.append(percent)

    async def sizes() -> list[int]:
        return [each.size for each in await volumes.list()]

    await volumes.create(VolumeSpec(1, 10))
    await region.instances.plan.set_latency(3600)
    with may_leave():
        with pytest.raises(NotYetError) as creation:
            await volumes.create(VolumeSpec(2, 10))
        with pytest.raises(NotYetError) as copy:
            await volumes.copy(1, VolumeSpec(3, 10), progress)
        assert 3500 < creation.value.seconds <= 3600
        assert 800 < copy.value.seconds <= 900
    assert (await sizes())[:3] == [10, 0, 0]
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    with may_leave():
        await volumes.create(VolumeSpec(2, 10))
    with may_leave():
        await volumes.copy(1, VolumeSpec(3, 10), progress)
    assert (await sizes())[:3] == [10, 10, 10]
    assert told == [0]


async def test_nodes_on_other_hosts_serve(region: Region) -> None:
    """As far as this one sees."""
    node = NodeSpec(1, "192.168.128.9", 80, 50, "accept")
    await region.balancers.apply(replace(BALANCER, configs=(config(7, node, check=QUICK),)))
    assert await region.balancers.statuses() == {1: "DOWN"}
    here, there = IPv4Address("192.0.2.3"), IPv4Address("192.0.2.4")
    elsewhere = RemoteAddress(there, IPv4Address(node.address))
    await region.instances.overlay.set(Overlay(here, region=frozenset({elsewhere})))
    assert await region.balancers.statuses() == {1: "UP"}
