"""The contract of InstanceEngine: every engine passes the same tests."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from roost.resources.compute.engine import InstanceSpec, NoDisksError
from tests.engines.harness import Harness, SimulatedHarness, until
from tests.engines.qemu_host import open_qemu

_ids = itertools.count(100_001)
_GRACE = 10.0


_QEMU = pytest.param("qemu", marks=pytest.mark.qemu)


@pytest_asyncio.fixture(scope="module", params=["simulated", _QEMU])
async def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Harness]:
    state_dir = tmp_path_factory.mktemp("engine")
    harness: Harness = SimulatedHarness(state_dir)
    if request.param == "qemu":
        harness = await open_qemu(state_dir)
    yield harness
    await harness.engine.shut_down()
    await harness.engine.close()


@pytest_asyncio.fixture
async def spec(harness: Harness) -> AsyncIterator[InstanceSpec]:
    """A guest of this test alone, which is gone afterwards."""
    spec = harness.spec(next(_ids))
    yield spec
    await harness.engine.delete(spec.id)


@pytest_asyncio.fixture
async def offline(harness: Harness, spec: InstanceSpec) -> InstanceSpec:
    await harness.engine.create(spec)
    return spec


@pytest_asyncio.fixture
async def running(harness: Harness, offline: InstanceSpec) -> InstanceSpec:
    await harness.engine.start(offline)
    return offline


async def power(harness: Harness, compute_id: int) -> str | None:
    state = await harness.engine.inspect(compute_id)
    return None if state is None else state.power


async def test_a_healthy_engine_says_how_it_serves(harness: Harness) -> None:
    health = await harness.engine.health()
    assert health.ok
    assert health.detail


async def test_a_created_guest_is_offline(harness: Harness, offline: InstanceSpec) -> None:
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert state.power == "offline"
    assert (state.memory, state.vcpus, state.disk) == (128, 1, 64)
    assert state in await harness.engine.list()
    assert await harness.engine.counters(offline.id) is None


async def test_create_can_be_repeated(harness: Harness, offline: InstanceSpec) -> None:
    before = await harness.engine.inspect(offline.id)
    await harness.engine.create(offline)
    assert await harness.engine.inspect(offline.id) == before


async def test_create_leaves_a_running_guest_alone(harness: Harness, running: InstanceSpec) -> None:
    await harness.engine.create(running)
    assert await power(harness, running.id) == "running"


async def test_an_empty_disk_needs_no_image(harness: Harness, spec: InstanceSpec) -> None:
    empty = replace(spec, image=None, swap=0)
    await harness.engine.create(empty)
    await harness.engine.start(empty)
    assert await power(harness, spec.id) == "running"


async def test_a_started_guest_runs(harness: Harness, running: InstanceSpec) -> None:
    assert await power(harness, running.id) == "running"
    assert running.id in [state.id for state in await harness.engine.list()]


async def test_start_leaves_a_running_guest_alone(harness: Harness, running: InstanceSpec) -> None:
    await until(lambda: harness.engine.console(running.id, 1), bool)
    before = await harness.engine.counters(running.id)
    await harness.engine.start(running)
    after = await harness.engine.counters(running.id)
    assert before is not None
    assert after is not None
    assert after.cpu_seconds >= before.cpu_seconds


async def test_two_starts_at_once_give_one_guest(harness: Harness, offline: InstanceSpec) -> None:
    await asyncio.gather(harness.engine.start(offline), harness.reopen().start(offline))
    assert await power(harness, offline.id) == "running"
    await harness.engine.stop(offline.id, 0)
    assert await power(harness, offline.id) == "offline"


async def test_a_guest_without_disks_does_not_start(harness: Harness, spec: InstanceSpec) -> None:
    with pytest.raises(NoDisksError, match="no disks"):
        await harness.engine.start(spec)
    assert await power(harness, spec.id) is None


async def test_a_start_applies_the_new_size(harness: Harness, offline: InstanceSpec) -> None:
    larger = replace(offline, memory=160, disk=96)
    await harness.engine.start(larger)
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert (state.memory, state.disk) == (160, 96)


async def test_a_disk_never_shrinks(harness: Harness, offline: InstanceSpec) -> None:
    await harness.engine.start(replace(offline, disk=32))
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert state.disk == 64


async def test_a_stopped_guest_is_offline(harness: Harness, running: InstanceSpec) -> None:
    await harness.engine.stop(running.id, 0)
    assert await power(harness, running.id) == "offline"
    assert await harness.engine.counters(running.id) is None


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
    assert await harness.engine.counters(running.id) is None
    await harness.engine.start(running)
    assert await power(harness, running.id) == "running"


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
    unknown = next(_ids)
    await harness.engine.stop(unknown, _GRACE)
    await harness.engine.delete(unknown)
    assert await harness.engine.inspect(unknown) is None
    assert await harness.engine.counters(unknown) is None
    assert await harness.engine.console(unknown, 100) == b""


async def test_an_interrupted_create_is_listed_and_deletable(
    harness: Harness, spec: InstanceSpec
) -> None:
    await _interrupt_create(harness, spec)
    assert spec.id in [state.id for state in await harness.engine.list()]
    await harness.engine.delete(spec.id)
    assert await harness.remains(spec.id) == []


async def test_an_interrupted_create_can_be_repeated(harness: Harness, spec: InstanceSpec) -> None:
    await _interrupt_create(harness, spec)
    await harness.engine.create(spec)
    await harness.engine.start(spec)
    assert await power(harness, spec.id) == "running"


async def _interrupt_create(harness: Harness, spec: InstanceSpec) -> None:
    create = asyncio.create_task(harness.engine.create(spec))
    await until(lambda: harness.engine.inspect(spec.id), lambda state: state is not None)
    create.cancel()
    await asyncio.gather(create, return_exceptions=True)


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
    first = await harness.engine.counters(running.id)
    assert first is not None
    later = await until(
        lambda: harness.engine.counters(running.id),
        lambda now: now is not None and now.cpu_seconds > first.cpu_seconds,
    )
    assert later is not None
    assert later.disk_read_bytes >= first.disk_read_bytes
    assert later.network_in_bytes >= first.network_in_bytes


async def test_the_console_shows_its_last_bytes(harness: Harness, running: InstanceSpec) -> None:
    engine = harness.engine
    text = await until(lambda: engine.console(running.id, 100_000), lambda text: len(text) > 20)
    tail = await engine.console(running.id, 10)
    assert len(tail) == 10
    assert text.strip()


async def test_guests_are_listed_by_id(harness: Harness, spec: InstanceSpec) -> None:
    second = harness.spec(next(_ids))
    await harness.engine.create(second)
    await harness.engine.create(spec)
    ids = [state.id for state in await harness.engine.list()]
    assert ids == sorted(ids)
    assert {spec.id, second.id} <= set(ids)
    await harness.engine.delete(second.id)
