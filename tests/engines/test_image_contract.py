"""The contract of ImageEngine: every engine passes the same tests."""

import asyncio
import struct
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.resources.compute.disk_engine import DiskSpec, TooLargeError, private_image
from roost.resources.compute.engine import DiskDevice, InstanceSpec
from tests.engines.conftest import ids
from tests.engines.harness import Harness, ignore
from tests.support.uploads import MB

MOST = 6144


@pytest_asyncio.fixture
async def disk(harness: Harness, spec: InstanceSpec) -> DiskSpec:
    disk = DiskSpec(next(ids), spec.id, 8, "raw")
    await harness.engine.disks.make(disk)
    await harness.write_disk(disk, "what is captured")
    return disk


@pytest_asyncio.fixture
async def number(harness: Harness) -> AsyncIterator[int]:
    """The number of an image of this test alone."""
    number = next(ids)
    yield number
    await harness.engine.images.delete(number)


async def capture(harness: Harness, number: int, disk: DiskSpec, most: int = MOST) -> int:
    images = harness.engine.images
    return await images.capture(number, disk, most, cloud_init=False, progress=ignore)


async def deploy(harness: Harness, number: int, disk: DiskSpec) -> str:
    """What a new disk holds that starts as the image."""
    target = replace(disk, id=next(ids), filesystem="ext4", image=private_image(number))
    await harness.engine.disks.make(target)
    return await harness.read_disk(target)


async def test_a_disk_starts_as_what_was_captured(
    harness: Harness, disk: DiskSpec, number: int
) -> None:
    told: list[int] = []

    async def tell(percent: int) -> None:
        told.append(percent)

    images = harness.engine.images
    assert await images.capture(number, disk, MOST, cloud_init=True, progress=tell) == 8
    assert told == sorted(told)
    assert set(told) <= set(range(101))
    await harness.write_disk(disk, "changed")
    assert number in await images.list()
    assert number in await harness.reopen().images.list()
    assert await deploy(harness, number, disk) == "what is captured"


async def test_a_complete_image_stays_as_it_is(
    harness: Harness, disk: DiskSpec, number: int
) -> None:
    await capture(harness, number, disk)
    await harness.write_disk(disk, "changed")
    assert await capture(harness, number, disk) == 8
    assert await deploy(harness, number, disk) == "what is captured"


async def test_an_image_of_a_running_guests_disks(
    harness: Harness, running: InstanceSpec, number: int
) -> None:
    """It boots another guest, though it began as an image itself."""
    root = DiskSpec(running.id, running.id, 64, "ext4", harness.image)
    assert await capture(harness, number, root) == 64
    state = await harness.engine.inspect(running.id)
    assert state is not None
    assert state.power == "running"
    await harness.engine.stop(running.id, 0)
    target = replace(root, id=next(ids), image=private_image(number))
    await harness.engine.disks.make(target)
    await harness.engine.start(replace(running, devices=(DiskDevice("sda", target.id),)))
    state = await harness.engine.inspect(running.id)
    assert state is not None
    assert state.power == "running"


async def test_what_is_not_there_is_not_captured(
    harness: Harness, disk: DiskSpec, number: int
) -> None:
    with pytest.raises(EngineError):
        await capture(harness, number, replace(disk, id=next(ids)))
    assert number not in await harness.engine.images.list()


async def test_a_begun_image_is_made_anew(harness: Harness, disk: DiskSpec, number: int) -> None:
    await _begin(harness, number, disk)
    await harness.write_disk(disk, "changed")
    await capture(harness, number, disk)
    assert await deploy(harness, number, disk) == "changed"


async def test_a_begun_image_can_be_deleted(harness: Harness, disk: DiskSpec, number: int) -> None:
    await _begin(harness, number, disk)
    await harness.engine.images.delete(number)
    assert number not in await harness.engine.images.list()


async def test_a_deleted_image_is_gone_but_its_disks_stay(
    harness: Harness, disk: DiskSpec, number: int
) -> None:
    await capture(harness, number, disk)
    target = replace(disk, id=next(ids), filesystem="ext4", image=private_image(number))
    await harness.engine.disks.make(target)
    for _ in range(2):
        await harness.engine.images.delete(number)
        assert number not in await harness.engine.images.list()
    assert await harness.read_disk(target) == "what is captured"


async def test_a_disk_that_holds_too_much_is_refused(
    harness: Harness, disk: DiskSpec, number: int
) -> None:
    await harness.fill_disk(disk, 4)
    with pytest.raises(TooLargeError):
        await capture(harness, number, disk, most=2)
    assert number not in await harness.engine.images.list()


async def test_a_disk_is_saved_of_a_guest_that_goes(
    harness: Harness, running: InstanceSpec, number: int
) -> None:
    engine, root = harness.engine, DiskSpec(running.id, running.id, 64, "ext4", harness.image)
    with pytest.raises(EngineError):
        await engine.images.set_aside(number, root, MOST)
    await engine.stop(running.id, 0)
    for _ in range(2):
        await engine.images.set_aside(number, root, MOST)
    await engine.delete(running.id)
    assert number in await harness.reopen().images.aside()
    assert number not in await engine.images.list()
    for _ in range(2):
        assert await _finish(harness, number) == 64
        assert number in await engine.images.list()
        assert number not in await engine.images.aside()
    target = replace(root, image=private_image(number))
    await engine.disks.make(target)
    await engine.start(running)
    state = await engine.inspect(running.id)
    assert state is not None
    assert state.power == "running"


async def test_what_was_saved_stays_as_it_was(
    harness: Harness, disk: DiskSpec, number: int
) -> None:
    await harness.engine.images.set_aside(number, disk, MOST)
    await harness.engine.disks.delete(disk.compute_id, disk.id)
    await harness.engine.disks.make(disk)
    await harness.write_disk(disk, "changed")
    await _finish(harness, number)
    assert await deploy(harness, number, disk) == "what is captured"


async def test_what_cannot_be_saved(harness: Harness, disk: DiskSpec, number: int) -> None:
    images = harness.engine.images
    with pytest.raises(EngineError):
        await images.set_aside(number, replace(disk, id=next(ids)), MOST)
    await harness.fill_disk(disk, 4)
    with pytest.raises(TooLargeError):
        await images.set_aside(number, disk, 2)
    with pytest.raises(EngineError):
        await _finish(harness, number)
    assert number not in await images.aside()
    assert number not in await images.list()


async def test_what_was_saved_can_be_deleted(harness: Harness, disk: DiskSpec, number: int) -> None:
    await harness.engine.images.set_aside(number, disk, MOST)
    for _ in range(2):
        await harness.engine.images.delete(number)
        assert number not in await harness.engine.images.aside()


async def _finish(harness: Harness, number: int) -> int:
    return await harness.engine.images.finish(number, cloud_init=False, progress=ignore)


async def _keep(harness: Harness, number: int, source: Path, most: int = MOST) -> int:
    images = harness.engine.images
    return await images.keep(number, source, most, cloud_init=False, progress=ignore)


async def test_a_disk_starts_as_what_was_uploaded(
    harness: Harness, disk: DiskSpec, number: int, tmp_path: Path
) -> None:
    source = tmp_path / "sent"
    source.write_bytes(b"what is uploaded".ljust(8 * MB, b"\0"))
    assert await _keep(harness, number, source) == 8
    source.unlink()
    assert await _keep(harness, number, source) == 8
    assert number in await harness.reopen().images.list()
    target = replace(disk, id=next(ids), filesystem="ext4", image=private_image(number))
    await harness.engine.disks.make(target)
    assert await harness.read_disk(target) == "what is uploaded"


async def test_an_upload_of_one_sector_is_a_disk(
    harness: Harness, number: int, tmp_path: Path
) -> None:
    source = tmp_path / "sent"
    source.write_bytes(bytes(512))
    assert await _keep(harness, number, source) == 1
    assert number in await harness.engine.images.list()


async def test_a_file_that_names_another_one_is_only_bytes(
    harness: Harness, disk: DiskSpec, number: int, tmp_path: Path
) -> None:
    """A qcow2 whose backing file it would read, if it were believed."""
    source = tmp_path / "sent"
    name = b"/etc/hostname"
    head = struct.pack(">4sIQIIQ", b"QFI\xfb", 2, 72, len(name), 16, MB) + bytes(40)
    source.write_bytes((head + name).ljust(8 * MB, b"\0"))
    assert await _keep(harness, number, source) == 8


async def test_what_is_uploaded_is_not_there_or_too_much(
    harness: Harness, number: int, tmp_path: Path
) -> None:
    source = tmp_path / "sent"
    with pytest.raises(EngineError):
        await _keep(harness, number, source)
    source.write_bytes(b"x" * 4 * MB)
    with pytest.raises(TooLargeError):
        await _keep(harness, number, source, most=2)
    assert number not in await harness.engine.images.list()


async def _begin(harness: Harness, number: int, disk: DiskSpec) -> None:
    """A capture that is given up in the middle, as by a kill."""
    work = asyncio.create_task(capture(harness, number, disk))
    await asyncio.sleep(0.01)
    assert not work.done()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    assert number not in await harness.engine.images.list()
