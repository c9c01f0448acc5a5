"""The contract of BackupEngine: every engine passes the same tests."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.resources.compute.disk_engine import BackupState, DiskSpec
from roost.resources.compute.engine import DiskDevice, InstanceSpec
from tests.engines.conftest import ids
from tests.engines.harness import Harness, ignore


@pytest_asyncio.fixture
async def disks(harness: Harness, spec: InstanceSpec) -> list[DiskSpec]:
    """Two disks of a guest, each with its number on it."""
    disks = [DiskSpec(next(ids), spec.id, 8 + number, "raw") for number in range(2)]
    for number, disk in enumerate(disks):
        await harness.engine.disks.make(disk)
        await harness.write_disk(disk, f"disk {number}")
    return disks


@pytest_asyncio.fixture
async def backup(harness: Harness) -> AsyncIterator[int]:
    """The id of a backup of this test alone."""
    backup_id = next(ids)
    yield backup_id
    await harness.engine.backups.delete(backup_id)


def restored(disk: DiskSpec) -> DiskSpec:
    return replace(disk, id=next(ids))


async def complete(harness: Harness, backup_id: int) -> BackupState | None:
    backups = await harness.engine.backups.list()
    assert backups == sorted(backups, key=lambda each: each.id)
    return next((each for each in backups if each.id == backup_id), None)


async def test_a_backup_brings_disks_back(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    told: list[int] = []

    async def tell(percent: int) -> None:
        told.append(percent)

    await harness.engine.backups.save(backup, disks, tell)
    assert await complete(harness, backup) == BackupState(backup, tuple(d.id for d in disks))
    assert told == sorted(told)
    assert set(told) <= set(range(101))
    for number, disk in enumerate(disks):
        target = restored(disk)
        await harness.engine.backups.restore(backup, disk.id, target, ignore)
        assert await harness.read_disk(target) == f"disk {number}"
        state = await harness.engine.disks.inspect(target.compute_id, target.id)
        assert state is not None
        assert state.size == disk.size


async def test_a_complete_backup_stays_as_it_is(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    await harness.engine.backups.save(backup, disks, ignore)
    await harness.write_disk(disks[0], "changed")
    await harness.engine.backups.save(backup, disks, ignore)
    target = restored(disks[0])
    await harness.engine.backups.restore(backup, disks[0].id, target, ignore)
    assert await harness.read_disk(target) == "disk 0"


async def test_a_restored_disk_that_is_there_stays(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    await harness.engine.backups.save(backup, disks, ignore)
    target = restored(disks[0])
    await harness.engine.backups.restore(backup, disks[0].id, target, ignore)
    await harness.write_disk(target, "changed")
    await harness.engine.backups.restore(backup, disks[0].id, target, ignore)
    assert await harness.read_disk(target) == "changed"


async def test_a_backup_outlives_its_guest_and_serves_others(
    harness: Harness, spec: InstanceSpec, disks: list[DiskSpec], backup: int
) -> None:
    await harness.engine.backups.save(backup, disks, ignore)
    await harness.engine.delete(spec.id)
    assert await complete(harness, backup) is not None
    other = next(ids)
    target = replace(disks[1], id=next(ids), compute_id=other, size=32)
    await harness.engine.backups.restore(backup, disks[1].id, target, ignore)
    assert await harness.read_disk(target) == "disk 1"
    state = await harness.engine.disks.inspect(other, target.id)
    assert state is not None
    assert state.size == 32
    await harness.engine.delete(other)


async def test_a_backup_of_a_running_guest(
    harness: Harness, offline: InstanceSpec, disks: list[DiskSpec], backup: int
) -> None:
    """One disk is plugged in, another is not."""
    device = DiskDevice("sdb", disks[0].id)
    await harness.engine.start(replace(offline, devices=(*offline.devices, device)))
    await harness.engine.backups.save(backup, disks, ignore)
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert state.power == "running"
    for number, disk in enumerate(disks):
        target = restored(disk)
        await harness.engine.backups.restore(backup, disk.id, target, ignore)
        assert await harness.read_disk(target) == f"disk {number}"


async def test_an_image_disk_is_restored_so_that_it_boots(
    harness: Harness, running: InstanceSpec, backup: int
) -> None:
    root = DiskSpec(running.id, running.id, 64, "ext4", harness.image)
    await harness.engine.backups.save(backup, [root], ignore)
    await harness.engine.stop(running.id, 0)
    target = replace(root, id=next(ids), image=None)
    await harness.engine.backups.restore(backup, root.id, target, ignore)
    await harness.engine.disks.delete(running.id, root.id)
    await harness.engine.start(replace(running, devices=(DiskDevice("sda", target.id),)))
    state = await harness.engine.inspect(running.id)
    assert state is not None
    assert state.power == "running"


async def test_what_is_not_there_is_not_restored(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    target = restored(disks[0])
    with pytest.raises(EngineError):
        await harness.engine.backups.restore(backup, disks[0].id, target, ignore)
    await harness.engine.backups.save(backup, disks[:1], ignore)
    with pytest.raises(EngineError):
        await harness.engine.backups.restore(backup, disks[1].id, target, ignore)
    small = replace(target, size=4)
    with pytest.raises(EngineError):
        await harness.engine.backups.restore(backup, disks[0].id, small, ignore)
    assert await harness.engine.disks.inspect(target.compute_id, target.id) is None


async def test_a_backup_of_a_lost_disk_fails(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    lost = replace(disks[1], id=next(ids))
    with pytest.raises(EngineError):
        await harness.engine.backups.save(backup, [disks[0], lost], ignore)
    assert await complete(harness, backup) is None


async def test_a_begun_backup_is_made_anew(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    await _begin(harness, disks, backup)
    await harness.write_disk(disks[0], "changed")
    await harness.engine.backups.save(backup, disks, ignore)
    target = restored(disks[0])
    await harness.engine.backups.restore(backup, disks[0].id, target, ignore)
    assert await harness.read_disk(target) == "changed"


async def test_a_backup_that_two_make_at_once_is_whole(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    engines = (harness.engine, harness.reopen())
    await asyncio.gather(*(each.backups.save(backup, disks, ignore) for each in engines))
    assert await complete(harness, backup) == BackupState(backup, tuple(d.id for d in disks))
    for number, disk in enumerate(disks):
        target = restored(disk)
        await harness.engine.backups.restore(backup, disk.id, target, ignore)
        assert await harness.read_disk(target) == f"disk {number}"


async def test_a_begun_backup_can_be_deleted(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    await _begin(harness, disks, backup)
    assert await complete(harness, backup) is None
    await harness.engine.backups.delete(backup)
    assert await complete(harness, backup) is None


async def test_a_deleted_backup_is_gone(
    harness: Harness, disks: list[DiskSpec], backup: int
) -> None:
    await harness.engine.backups.save(backup, disks, ignore)
    for _ in range(2):
        await harness.engine.backups.delete(backup)
        assert await complete(harness, backup) is None
    with pytest.raises(EngineError):
        await harness.engine.backups.restore(backup, disks[0].id, restored(disks[0]), ignore)


async def _begin(harness: Harness, disks: list[DiskSpec], backup_id: int) -> None:
    """A backup that is given up in the middle, as by a kill."""
    work = asyncio.create_task(harness.engine.backups.save(backup_id, disks, ignore))
    await asyncio.sleep(0.01)
    assert not work.done()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
