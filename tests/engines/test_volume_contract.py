"""The contract of VolumeEngine: every engine passes the same tests."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.resources.compute.engine import InstanceSpec
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.conftest import ids
from tests.engines.harness import Harness, ignore, root_disk, until

LABEL = "a" * 32


@pytest_asyncio.fixture
async def volume(harness: Harness) -> AsyncIterator[VolumeSpec]:
    """A volume of this test alone, with something on it."""
    volume = VolumeSpec(next(ids), 2)
    await harness.volumes.create(volume)
    await harness.write_volume(volume.id, "first")
    yield volume
    state = await harness.volumes.inspect(volume.id)
    if state is not None and state.compute_id is not None:
        await harness.engine.stop(state.compute_id, 0)
    await harness.volumes.delete(volume.id)


@pytest_asyncio.fixture
async def target(harness: Harness) -> AsyncIterator[VolumeSpec]:
    """What a copy is to be."""
    target = VolumeSpec(next(ids), 2)
    yield target
    await harness.volumes.delete(target.id)


@pytest_asyncio.fixture
async def plugged(harness: Harness, volume: VolumeSpec, running: InstanceSpec) -> VolumeSpec:
    """The volume, in the running guest."""
    await harness.volumes.plug(volume.id, LABEL, running.id)
    return volume


async def state(harness: Harness, volume: VolumeSpec) -> tuple[int, int | None] | None:
    """Size and guest."""
    found = await harness.volumes.inspect(volume.id)
    listed = [each for each in await harness.volumes.list() if each.id == volume.id]
    assert listed == ([] if found is None else [found])
    return None if found is None else (found.size, found.compute_id)


async def test_a_guest_that_is_deleted_loses_its_volume(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec
) -> None:
    """Also when the volume is just being taken from it, or given to it again."""
    await asyncio.gather(
        harness.engine.delete(running.id),
        harness.volumes.unplug(plugged.id, running.id),
        harness.reopen_volumes().plug(plugged.id, LABEL, running.id),
    )
    assert await state(harness, plugged) == (2, None)


async def test_a_healthy_engine_says_how_it_serves(harness: Harness) -> None:
    health = await harness.volumes.health()
    assert health.ok
    assert health.detail


async def test_a_volume_that_is_there_stays(harness: Harness, volume: VolumeSpec) -> None:
    await harness.volumes.create(VolumeSpec(volume.id, 3))
    assert await state(harness, volume) == (2, None)
    assert await harness.read_volume(volume.id) == "first"


async def test_a_new_volume_is_empty(harness: Harness, target: VolumeSpec) -> None:
    await harness.volumes.create(target)
    assert await harness.read_volume(target.id) == ""


async def test_volumes_are_listed_by_id(harness: Harness, volume: VolumeSpec) -> None:
    second = VolumeSpec(next(ids), 1)
    await harness.volumes.create(second)
    listed = await harness.volumes.list()
    assert listed == sorted(listed, key=lambda each: each.id)
    assert {VolumeState(volume.id, 2, None), VolumeState(second.id, 1, None)} <= set(listed)
    await harness.volumes.delete(second.id)


async def test_a_deleted_volume_is_gone(harness: Harness, volume: VolumeSpec) -> None:
    for _ in range(2):
        await harness.volumes.delete(volume.id)
        assert await state(harness, volume) is None
    await harness.volumes.create(volume)
    assert await harness.read_volume(volume.id) == ""


async def test_a_volume_grows_and_never_shrinks(harness: Harness, volume: VolumeSpec) -> None:
    for size, is_then in ((3, 3), (3, 3), (2, 3)):
        await harness.volumes.resize(VolumeSpec(volume.id, size))
        assert await state(harness, volume) == (is_then, None)
    assert await harness.read_volume(volume.id) == "first"


async def test_a_volume_that_does_not_exist_cannot_be_used(
    harness: Harness, running: InstanceSpec, target: VolumeSpec
) -> None:
    for work in (
        harness.volumes.resize(VolumeSpec(1, 3)),
        harness.volumes.plug(1, LABEL, running.id),
        harness.volumes.copy(1, target, ignore),
    ):
        with pytest.raises(EngineError):
            await work
    assert await harness.volumes.inspect(1) is None
    assert await state(harness, target) is None
    await harness.volumes.unplug(1, running.id)
    await harness.volumes.delete(1)


async def test_a_copy_has_the_same_content(
    harness: Harness, volume: VolumeSpec, target: VolumeSpec
) -> None:
    told: list[int] = []

    async def tell(percent: int) -> None:
        told.append(percent)

    await harness.volumes.copy(volume.id, target, tell)
    assert await state(harness, target) == (2, None)
    assert await harness.read_volume(target.id) == "first"
    assert told == sorted(told)
    assert set(told) <= set(range(101))


async def test_a_copy_may_be_larger_not_smaller(
    harness: Harness, volume: VolumeSpec, target: VolumeSpec
) -> None:
    with pytest.raises(EngineError):
        await harness.volumes.copy(volume.id, VolumeSpec(target.id, 1), ignore)
    assert await state(harness, target) is None
    await harness.volumes.copy(volume.id, VolumeSpec(target.id, 3), ignore)
    assert await state(harness, target) == (3, None)
    assert await harness.read_volume(target.id) == "first"


async def test_a_copy_and_its_source_part_ways(
    harness: Harness, volume: VolumeSpec, target: VolumeSpec
) -> None:
    await harness.volumes.copy(volume.id, target, ignore)
    await harness.write_volume(volume.id, "second")
    await harness.volumes.copy(volume.id, target, ignore)
    assert await harness.read_volume(target.id) == "first"


@pytest.mark.parametrize("in_use", [False, True])
async def test_an_interrupted_copy_is_made_anew(
    harness: Harness,
    volume: VolumeSpec,
    target: VolumeSpec,
    running: InstanceSpec,
    in_use: bool,
) -> None:
    if in_use:
        await harness.volumes.plug(volume.id, LABEL, running.id)
    await _interrupt(harness, volume, target)
    await harness.volumes.delete(target.id)
    assert await state(harness, target) is None
    await harness.write_volume(volume.id, "second")
    await _interrupt(harness, volume, target)
    await harness.volumes.copy(volume.id, target, ignore)
    assert await harness.read_volume(target.id) == "second"
    assert await state(harness, target) == (2, None)


async def _interrupt(harness: Harness, volume: VolumeSpec, target: VolumeSpec) -> None:
    """Begin a copy and give it up, as a kill would."""
    work = asyncio.create_task(harness.volumes.copy(volume.id, target, ignore))

    async def begun() -> bool:
        return work.done() or await harness.volumes.inspect(target.id) is not None

    await until(begun, bool)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


async def test_a_volume_in_use_is_copied(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec, target: VolumeSpec
) -> None:
    await harness.volumes.copy(plugged.id, VolumeSpec(target.id, 3), ignore)
    assert await harness.read_volume(target.id) == "first"
    assert await state(harness, target) == (3, None)
    assert await state(harness, plugged) == (2, running.id)


async def test_a_volume_in_use_grows_and_is_not_deleted(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec
) -> None:
    for _ in range(2):
        await harness.volumes.resize(VolumeSpec(plugged.id, 3))
        assert await state(harness, plugged) == (3, running.id)
    with pytest.raises(EngineError):
        await harness.volumes.delete(plugged.id)
    assert await state(harness, plugged) == (3, running.id)


async def test_plug_and_unplug_can_be_repeated(
    harness: Harness, volume: VolumeSpec, running: InstanceSpec
) -> None:
    for _ in range(2):
        for _ in range(2):
            await harness.volumes.plug(volume.id, LABEL, running.id)
            assert await state(harness, volume) == (2, running.id)
        for _ in range(2):
            await harness.volumes.unplug(volume.id, running.id)
            assert await state(harness, volume) == (2, None)


async def test_a_guest_takes_many_volumes(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec
) -> None:
    others = [VolumeSpec(next(ids), 1) for _ in range(3)]
    for each in others:
        await harness.volumes.create(each)
    await asyncio.gather(
        *(harness.volumes.plug(each.id, f"volume{each.id}", running.id) for each in others)
    )
    await harness.volumes.unplug(others[0].id, running.id)
    await harness.volumes.delete(others[0].id)
    assert [await state(harness, each) for each in (plugged, *others[1:])] == [
        (2, running.id),
        (1, running.id),
        (1, running.id),
    ]
    await harness.engine.stop(running.id, 0)
    for each in others[1:]:
        await harness.volumes.delete(each.id)


async def test_a_guest_that_does_not_run_is_left_alone(
    harness: Harness, volume: VolumeSpec, offline: InstanceSpec
) -> None:
    for compute_id in (offline.id, 1):
        await harness.volumes.plug(volume.id, LABEL, compute_id)
        assert await state(harness, volume) == (2, None)
        await harness.volumes.unplug(volume.id, compute_id)


async def test_only_one_guest_has_it(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec
) -> None:
    second = await _start_second(harness)
    with pytest.raises(EngineError):
        await harness.volumes.plug(plugged.id, LABEL, second)
    await harness.volumes.unplug(plugged.id, second)
    assert await state(harness, plugged) == (2, running.id)
    await harness.volumes.unplug(plugged.id, running.id)
    await harness.volumes.plug(plugged.id, LABEL, second)
    assert await state(harness, plugged) == (2, second)
    await harness.engine.delete(second)
    assert await state(harness, plugged) == (2, None)


async def test_of_two_guests_at_once_one_gets_it(
    harness: Harness, volume: VolumeSpec, running: InstanceSpec
) -> None:
    guests, engines = (running.id, await _start_second(harness)), harness.reopen_volumes()
    both = zip((harness.volumes, engines), guests, strict=True)
    results = await asyncio.gather(
        *(engine.plug(volume.id, LABEL, guest) for engine, guest in both), return_exceptions=True
    )
    errors = [result for result in results if result is not None]
    assert [isinstance(error, EngineError) for error in errors] == [True]
    assert await state(harness, volume) == (2, guests[results.index(None)])
    await engines.close()
    await harness.engine.delete(guests[1])


@pytest.mark.parametrize("end", ["stop", "crash", "delete"])
async def test_a_guest_that_ends_gives_it_back(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec, end: str
) -> None:
    if end == "stop":
        await harness.engine.stop(running.id, 0)
    elif end == "crash":
        await harness.crash(running.id)
    else:
        await harness.engine.delete(running.id)
    assert await state(harness, plugged) == (2, None)
    assert await harness.read_volume(plugged.id) == "first"


async def test_another_engine_object_knows_them(
    harness: Harness, plugged: VolumeSpec, running: InstanceSpec
) -> None:
    other = harness.reopen_volumes()
    assert await other.inspect(plugged.id) == VolumeState(plugged.id, 2, running.id)
    await other.unplug(plugged.id, running.id)
    await other.close()
    assert await state(harness, plugged) == (2, None)


async def _start_second(harness: Harness) -> int:
    second = harness.spec(next(ids))
    await harness.engine.disks.make(root_disk(harness, second.id))
    await harness.engine.start(second)
    return second.id
