"""The contract of InstanceEngine: every engine passes the same tests."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from roost.core.engine import EngineError
from roost.resources.compute.disk_engine import DiskSpec, DiskState
from roost.resources.compute.engine import DiskDevice, InstanceSpec, NoDisksError, VolumeDevice
from roost.resources.volumes.engine import VolumeSpec
from tests.engines.conftest import ids
from tests.engines.harness import Harness, counters_of, root_disk, until

_GRACE = 10.0


async def power(harness: Harness, compute_id: int) -> str | None:
    state = await harness.engine.inspect(compute_id)
    return None if state is None else state.power


async def test_a_healthy_engine_says_how_it_serves(harness: Harness) -> None:
    health = await harness.engine.health()
    assert health.ok
    assert health.detail


async def test_an_engine_says_what_its_host_has_or_that_there_is_no_end_of_it(
    harness: Harness,
) -> None:
    host = await harness.engine.host()
    if host is not None:
        assert all(0 < folder.free < folder.size for folder in host.folders)
        assert 0 < host.memory_free < host.memory


async def test_a_guest_exists_from_its_first_disk_on(
    harness: Harness, offline: InstanceSpec
) -> None:
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert (state.power, state.memory, state.vcpus) == ("offline", 0, 0)
    assert state.disks == (DiskState(offline.id, offline.id, 64),)
    assert state in await harness.engine.list()
    assert await counters_of(harness.engine, offline.id) is None


async def test_disks_of_a_guest_are_shown_by_id(harness: Harness, offline: InstanceSpec) -> None:
    first, second = next(ids), next(ids)
    for disk_id, size in ((second, 8), (first, 4)):
        await harness.engine.disks.make(DiskSpec(disk_id, offline.id, size, "raw"))
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert [(disk.id, disk.size) for disk in state.disks] == [
        (offline.id, 64),
        (first, 4),
        (second, 8),
    ]


async def test_a_guest_boots_from_an_empty_disk(harness: Harness, spec: InstanceSpec) -> None:
    await harness.engine.disks.make(DiskSpec(spec.id, spec.id, 16, "raw"))
    await harness.engine.start(spec)
    assert await power(harness, spec.id) == "running"


async def test_a_started_guest_runs(harness: Harness, running: InstanceSpec) -> None:
    assert await power(harness, running.id) == "running"
    assert running.id in [state.id for state in await harness.engine.list()]


async def test_start_leaves_a_running_guest_alone(harness: Harness, running: InstanceSpec) -> None:
    before = await until(
        lambda: counters_of(harness.engine, running.id),
        lambda counters: counters is not None and counters.cpu_seconds > 1,
    )
    await harness.engine.start(running)
    after = await counters_of(harness.engine, running.id)
    assert before is not None
    assert after is not None
    assert after.cpu_seconds >= before.cpu_seconds


async def test_two_starts_at_once_give_one_guest(harness: Harness, offline: InstanceSpec) -> None:
    await asyncio.gather(harness.engine.start(offline), harness.reopen().start(offline))
    assert await power(harness, offline.id) == "running"
    await harness.engine.stop(offline.id, 0)
    assert await power(harness, offline.id) == "offline"


async def test_a_guest_without_its_disk_does_not_start(
    harness: Harness, spec: InstanceSpec
) -> None:
    with pytest.raises(NoDisksError):
        await harness.engine.start(spec)
    assert await power(harness, spec.id) is None


async def test_a_guest_with_nothing_to_boot_from_does_not_start(
    harness: Harness, offline: InstanceSpec
) -> None:
    for spec in (replace(offline, devices=(), root=None), replace(offline, root="sdb")):
        with pytest.raises(NoDisksError):
            await harness.engine.start(spec)
    assert await power(harness, offline.id) == "offline"


@pytest.mark.parametrize("device", [DiskDevice("sdb", 1), VolumeDevice(None, 1, "lost")])
async def test_a_guest_without_a_device_does_not_start(
    harness: Harness, offline: InstanceSpec, device: DiskDevice | VolumeDevice
) -> None:
    with pytest.raises(NoDisksError):
        await harness.engine.start(replace(offline, devices=(*offline.devices, device)))
    assert await power(harness, offline.id) == "offline"


async def test_a_start_applies_the_size(harness: Harness, offline: InstanceSpec) -> None:
    await harness.engine.start(replace(offline, memory=160))
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert (state.memory, state.vcpus) == (160, 1)
    await harness.engine.stop(offline.id, 0)
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert (state.memory, state.vcpus) == (160, 1)


async def test_a_guest_starts_with_volumes(harness: Harness, offline: InstanceSpec) -> None:
    volumes = [next(ids) for _ in range(2)]
    for volume_id in volumes:
        await harness.volumes.create(VolumeSpec(volume_id, 1))
    devices = (VolumeDevice("sdc", volumes[0], "slot"), VolumeDevice(None, volumes[1], "loose"))
    await harness.engine.start(replace(offline, devices=(*offline.devices, *devices)))
    assert [await _holder(harness, each) for each in volumes] == [offline.id] * 2
    await harness.engine.delete(offline.id)
    assert [await _holder(harness, each) for each in volumes] == [None] * 2
    for volume_id in volumes:
        await harness.volumes.delete(volume_id)


async def test_a_volume_of_another_running_guest_is_refused(
    harness: Harness, running: InstanceSpec
) -> None:
    volume = VolumeSpec(next(ids), 1)
    await harness.volumes.create(volume)
    await harness.volumes.plug(volume.id, "taken", running.id)
    second = harness.spec(next(ids))
    await harness.engine.disks.make(root_disk(harness, second.id))
    device = VolumeDevice("sdb", volume.id, "taken")
    with pytest.raises(EngineError):
        await harness.engine.start(replace(second, devices=(*second.devices, device)))
    assert await power(harness, second.id) == "offline"
    assert await _holder(harness, volume.id) == running.id
    await harness.engine.delete(second.id)


async def test_a_rescue_system_needs_no_root(harness: Harness, offline: InstanceSpec) -> None:
    await harness.engine.start(replace(offline, root=None, rescue=True))
    assert await power(harness, offline.id) == "running"
    await harness.engine.stop(offline.id, 0)
    await harness.engine.start(offline)
    assert await power(harness, offline.id) == "running"


async def test_a_stopped_guest_is_offline(harness: Harness, running: InstanceSpec) -> None:
    await harness.engine.stop(running.id, 0)
    assert await power(harness, running.id) == "offline"
    assert await counters_of(harness.engine, running.id) is None


async def test_a_stopped_guest_starts_again(harness: Harness, running: InstanceSpec) -> None:
    await harness.engine.stop(running.id, 0)
    await harness.engine.start(running)
    assert await power(harness, running.id) == "running"


async def test_stop_of_an_offline_guest_is_harmless(
    harness: Harness, offline: InstanceSpec
) -> None:
    await harness.engine.stop(offline.id, _GRACE)
    assert await power(harness, offline.id) == "offline"


async def test_a_crashed_guest_is_offline_and_starts_again(
    harness: Harness, running: InstanceSpec
) -> None:
    await harness.crash(running.id)
    assert await power(harness, running.id) == "offline"
    assert await counters_of(harness.engine, running.id) is None
    await harness.engine.start(running)
    assert await power(harness, running.id) == "running"


async def test_a_guest_that_crashes_is_told_of_at_once(
    harness: Harness, offline: InstanceSpec
) -> None:
    """For every way of going off, as long as somebody listens."""
    async with aclosing(harness.engine.endings()) as endings:
        for go_off in (
            harness.crash,
            lambda compute_id: harness.engine.stop(compute_id, 0),
            harness.engine.delete,
        ):
            ended = asyncio.ensure_future(anext(endings))
            await asyncio.sleep(0)  # It listens from its first step on.
            await harness.engine.start(offline)
            assert not ended.done()
            await go_off(offline.id)
            async with asyncio.timeout(60):
                assert await ended == offline.id


async def test_only_what_stops_all_guests_interrupts_one(
    harness: Harness, running: InstanceSpec
) -> None:
    await harness.crash(running.id)
    assert await _interrupted(harness, running.id) is False
    await harness.engine.start(running)
    await harness.engine.shut_down()
    assert await power(harness, running.id) == "offline"
    assert await _interrupted(harness, running.id) is True
    await harness.engine.start(running)
    assert await _interrupted(harness, running.id) is False
    await harness.engine.stop(running.id, 0)
    assert await _interrupted(harness, running.id) is False


async def test_a_deleted_guest_leaves_nothing(harness: Harness, running: InstanceSpec) -> None:
    assert await harness.remains(running.id) != []
    await harness.engine.delete(running.id)
    assert await harness.remains(running.id) == []
    assert await harness.engine.inspect(running.id) is None
    assert running.id not in [state.id for state in await harness.engine.list()]
    await harness.engine.delete(running.id)


async def test_a_crashed_guest_can_be_deleted(harness: Harness, running: InstanceSpec) -> None:
    await harness.crash(running.id)
    await harness.engine.delete(running.id)
    assert await harness.remains(running.id) == []


async def test_a_guest_that_does_not_exist_is_nothing(harness: Harness) -> None:
    unknown = next(ids)
    await harness.engine.stop(unknown, _GRACE)
    await harness.engine.delete(unknown)
    assert await harness.engine.inspect(unknown) is None
    assert await counters_of(harness.engine, unknown) is None
    assert await harness.engine.console(unknown, 100) == b""


async def test_another_engine_object_controls_a_running_guest(
    harness: Harness, running: InstanceSpec
) -> None:
    other = harness.reopen()
    state = await other.inspect(running.id)
    assert state is not None
    assert state.power == "running"
    await other.start(running)
    await other.stop(running.id, 0)
    await other.close()
    assert await power(harness, running.id) == "offline"


async def test_guests_outlive_the_engine_object(harness: Harness, offline: InstanceSpec) -> None:
    other = harness.reopen()
    await other.start(offline)
    await other.close()
    assert await power(harness, offline.id) == "running"


async def test_counters_grow(harness: Harness, running: InstanceSpec) -> None:
    first = await counters_of(harness.engine, running.id)
    assert first is not None
    later = await until(
        lambda: counters_of(harness.engine, running.id),
        lambda now: now is not None and now.cpu_seconds > first.cpu_seconds,
    )
    assert later is not None
    assert later.run == first.run
    assert later.disks.keys() == first.disks.keys()
    assert sum(later.disks.values()) >= sum(first.disks.values())
    assert later.traffic.ipv4_in >= first.traffic.ipv4_in


async def test_counters_of_all_that_run(harness: Harness, running: InstanceSpec) -> None:
    found = await harness.engine.counters()
    one = await counters_of(harness.engine, running.id)
    assert one is not None
    assert one.run == found[running.id].run
    assert one.cpu_seconds >= found[running.id].cpu_seconds
    await harness.engine.stop(running.id, 0)
    assert running.id not in await harness.engine.counters()


async def test_another_start_is_another_run(harness: Harness, running: InstanceSpec) -> None:
    first = await counters_of(harness.engine, running.id)
    await harness.engine.stop(running.id, 0)
    await harness.engine.start(running)
    second = await counters_of(harness.engine, running.id)
    assert first is not None
    assert second is not None
    assert first.run != second.run


async def test_the_console_shows_its_last_bytes(harness: Harness, running: InstanceSpec) -> None:
    engine = harness.engine
    text = await until(lambda: engine.console(running.id, 100_000), lambda text: len(text) > 20)
    tail = await engine.console(running.id, 10)
    assert len(tail) == 10
    assert text.strip()


async def test_a_terminal(harness: Harness, running: InstanceSpec) -> None:
    """What is typed comes to the guest, which writes back, and really to the console, too."""
    engine = harness.engine
    loop = asyncio.get_running_loop()
    with await engine.terminal(running.id) as connection:
        await loop.sock_sendall(connection, b"\n")
        async with asyncio.timeout(60):
            written = await loop.sock_recv(connection, 65_536)
    assert written
    if engine.name != "simulated":
        await until(lambda: engine.console(running.id, 100_000), lambda text: written in text)
    with await engine.terminal(running.id) as connection:
        await loop.sock_sendall(connection, b"\n")
    await engine.stop(running.id, 0)
    with pytest.raises(EngineError, match="does not answer"):
        await engine.terminal(running.id)


async def test_guests_are_listed_by_id(harness: Harness, spec: InstanceSpec) -> None:
    second = harness.spec(next(ids))
    for each in (second, spec):
        await harness.engine.disks.make(root_disk(harness, each.id))
    listed = [state.id for state in await harness.engine.list()]
    assert listed == sorted(listed)
    assert {spec.id, second.id} <= set(listed)
    await harness.engine.delete(second.id)


async def _interrupted(harness: Harness, compute_id: int) -> bool:
    state = await harness.engine.inspect(compute_id)
    assert state is not None
    return state.interrupted


async def _holder(harness: Harness, volume_id: int) -> int | None:
    state = await harness.volumes.inspect(volume_id)
    assert state is not None
    return state.compute_id
