"""The contract of DiskEngine: every engine passes the same tests."""

import asyncio
from dataclasses import replace
from typing import get_args

import pytest

from roost.core.engine import EngineError
from roost.resources.compute.disk_engine import DiskSpec, DiskState, Filesystem
from roost.resources.compute.engine import DiskDevice, InstanceSpec
from tests.engines.conftest import ids
from tests.engines.harness import Harness, ignore, until


def new_disk(spec: InstanceSpec, size: int = 8, filesystem: Filesystem = "raw") -> DiskSpec:
    return DiskSpec(next(ids), spec.id, size, filesystem)


async def written(harness: Harness, spec: InstanceSpec, mark: str = "first") -> DiskSpec:
    """A disk with something on it."""
    disk = new_disk(spec)
    await harness.engine.disks.make(disk)
    await harness.write_disk(disk, mark)
    return disk


async def size(harness: Harness, disk: DiskSpec) -> int | None:
    state = await harness.engine.disks.inspect(disk.compute_id, disk.id)
    assert state in (None, DiskState(disk.id, disk.compute_id, state.size if state else 0))
    return None if state is None else state.size


@pytest.mark.parametrize("filesystem", get_args(Filesystem))
async def test_a_disk_is_made(harness: Harness, spec: InstanceSpec, filesystem: Filesystem) -> None:
    disk = new_disk(spec, filesystem=filesystem)
    assert await size(harness, disk) is None
    await harness.engine.disks.make(disk)
    assert await size(harness, disk) == 8


async def test_a_disk_that_is_there_stays(harness: Harness, spec: InstanceSpec) -> None:
    disk = await written(harness, spec)
    await harness.engine.disks.make(replace(disk, size=16))
    assert await size(harness, disk) == 8
    assert await harness.read_disk(disk) == "first"


async def test_an_interrupted_disk_is_made_again(harness: Harness, spec: InstanceSpec) -> None:
    disk = new_disk(spec, 32, "ext4")
    work = asyncio.create_task(harness.engine.disks.make(disk))
    await _catch(harness, work, disk)
    await harness.engine.disks.make(disk)
    assert await size(harness, disk) == 32
    await harness.engine.start(replace(spec, devices=(DiskDevice("sda", disk.id),)))


@pytest.mark.parametrize("filesystem", ["raw", "ext3", "ext4", "swap"])
async def test_a_disk_grows(harness: Harness, spec: InstanceSpec, filesystem: Filesystem) -> None:
    disk = new_disk(spec, filesystem=filesystem)
    await harness.engine.disks.make(disk)
    for _ in range(2):
        await harness.engine.disks.resize(replace(disk, size=24))
        assert await size(harness, disk) == 24


async def test_growth_keeps_what_is_on_a_disk(harness: Harness, spec: InstanceSpec) -> None:
    disk = await written(harness, spec)
    await harness.engine.disks.resize(replace(disk, size=16))
    assert await harness.read_disk(disk) == "first"


@pytest.mark.parametrize("filesystem", ["ext3", "ext4"])
async def test_an_ext_disk_shrinks(
    harness: Harness, spec: InstanceSpec, filesystem: Filesystem
) -> None:
    disk = new_disk(spec, 64, filesystem)
    await harness.engine.disks.make(disk)
    for _ in range(2):
        await harness.engine.disks.resize(replace(disk, size=32))
        assert await size(harness, disk) == 32


async def test_a_disk_that_does_not_exist_is_not_resized(
    harness: Harness, spec: InstanceSpec
) -> None:
    disk = new_disk(spec)
    with pytest.raises(EngineError):
        await harness.engine.disks.resize(disk)
    assert await size(harness, disk) is None


async def test_a_disk_in_use_keeps_its_size_and_stays(
    harness: Harness, running: InstanceSpec
) -> None:
    root = DiskSpec(running.id, running.id, 64, "ext4", harness.image)
    with pytest.raises(EngineError):
        await harness.engine.disks.resize(replace(root, size=96))
    with pytest.raises(EngineError):
        await harness.engine.disks.delete(running.id, root.id)
    assert await size(harness, root) == 64
    await harness.engine.stop(running.id, 0)
    await harness.engine.disks.resize(replace(root, size=96))
    assert await size(harness, root) == 96
    await harness.engine.disks.delete(running.id, root.id)
    assert await size(harness, root) is None


async def test_a_copy_has_the_same_content(harness: Harness, spec: InstanceSpec) -> None:
    source = await written(harness, spec)
    target, told = new_disk(spec), list[int]()

    async def tell(percent: int) -> None:
        told.append(percent)

    await harness.engine.disks.copy(source, target, tell)
    assert await size(harness, target) == 8
    assert await harness.read_disk(target) == "first"
    assert told == sorted(told)
    assert set(told) <= set(range(101))


async def test_a_copy_may_be_larger_and_of_another_guest(
    harness: Harness, spec: InstanceSpec
) -> None:
    source, other = await written(harness, spec), harness.spec(next(ids))
    target = new_disk(other, 16)
    await harness.engine.disks.copy(source, target, ignore)
    assert await size(harness, target) == 16
    assert await harness.read_disk(target) == "first"
    await harness.engine.delete(other.id)


async def test_a_copy_and_its_source_part_ways(harness: Harness, spec: InstanceSpec) -> None:
    source, target = await written(harness, spec), new_disk(spec)
    await harness.engine.disks.copy(source, target, ignore)
    await harness.write_disk(source, "second")
    assert await harness.read_disk(target) == "first"
    await harness.engine.disks.copy(source, target, ignore)
    assert await harness.read_disk(target) == "first"
    await harness.engine.disks.delete(spec.id, source.id)
    assert await harness.read_disk(target) == "first"


async def test_what_cannot_be_copied_leaves_nothing(harness: Harness, spec: InstanceSpec) -> None:
    target, small = new_disk(spec), new_disk(spec, 4)
    with pytest.raises(EngineError):
        await harness.engine.disks.copy(new_disk(spec), target, ignore)
    assert await size(harness, target) is None
    source = await written(harness, spec)
    with pytest.raises(EngineError):
        await harness.engine.disks.copy(source, small, ignore)
    assert await size(harness, small) is None


async def test_an_interrupted_copy_is_made_anew(harness: Harness, spec: InstanceSpec) -> None:
    source, target = await written(harness, spec), new_disk(spec)
    work = asyncio.create_task(harness.engine.disks.copy(source, target, ignore))
    await _catch(harness, work, target)
    await harness.engine.disks.delete(spec.id, target.id)
    assert await size(harness, target) is None
    await harness.write_disk(source, "second")
    work = asyncio.create_task(harness.engine.disks.copy(source, target, ignore))
    await _catch(harness, work, target)
    await harness.engine.disks.copy(source, target, ignore)
    assert await harness.read_disk(target) == "second"
    assert await size(harness, target) == 8


async def test_a_disk_is_copied_while_its_guest_runs(
    harness: Harness, offline: InstanceSpec
) -> None:
    source, target = await written(harness, offline), new_disk(offline)
    devices = (*offline.devices, DiskDevice("sdb", source.id))
    await harness.engine.start(replace(offline, devices=devices))
    await harness.engine.disks.copy(source, target, ignore)
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert state.power == "running"
    assert await harness.read_disk(target) == "first"


async def test_a_deleted_disk_is_gone(harness: Harness, spec: InstanceSpec) -> None:
    disk = await written(harness, spec)
    for _ in range(2):
        await harness.engine.disks.delete(spec.id, disk.id)
        assert await size(harness, disk) is None
    await harness.engine.disks.make(disk)
    assert await harness.read_disk(disk) == ""


async def test_disks_go_with_their_guest(harness: Harness, spec: InstanceSpec) -> None:
    disk = await written(harness, spec)
    await harness.engine.delete(spec.id)
    assert await size(harness, disk) is None


async def test_another_engine_object_knows_them(harness: Harness, spec: InstanceSpec) -> None:
    disk, other = await written(harness, spec), harness.reopen()
    assert await other.disks.inspect(spec.id, disk.id) == DiskState(disk.id, spec.id, 8)
    await other.disks.delete(spec.id, disk.id)
    await other.close()
    assert await size(harness, disk) is None


async def _catch(harness: Harness, work: asyncio.Task[None], disk: DiskSpec) -> None:
    """Let the work be given up when something of the disk exists, as after a kill."""

    async def begun() -> bool:
        return work.done() or await size(harness, disk) is not None

    await until(begun, bool)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
