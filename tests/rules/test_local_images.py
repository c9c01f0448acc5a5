"""What a region of this host offers while its images are being built."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from roost.app import images
from roost.app.images import LocalImages
from roost.engines.processes import search_process
from roost.engines.qemu.images.commands import ImageError, run
from roost.engines.qemu.images.debian12 import DEBIAN12
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import Draft, ImageInfo, ImageStore


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path)


@pytest.fixture(autouse=True)
def gate(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Mini is built when it opens; Debian cannot be built."""
    gate = asyncio.Event()

    async def build_mini(draft: Draft, _progress: Callable[[str], None]) -> None:
        await gate.wait()
        draft.publish(MINI)

    async def build_debian12(_draft: Draft, _progress: Callable[[str], None]) -> None:
        raise ImageError("no package sources")

    builders = {MINI.id: build_mini, DEBIAN12.id: build_debian12}
    monkeypatch.setattr(images, "BUILDERS", builders)
    return gate


async def put(store: ImageStore, info: ImageInfo) -> None:
    async with store.draft(info.id) as draft:
        draft.publish(info)


async def test_images_are_awaited_until_they_are_there(
    store: ImageStore, gate: asyncio.Event
) -> None:
    local = LocalImages(store)
    assert not local.awaits(MINI.id)
    local.expect(lambda _image_id: True)
    assert local.awaits(MINI.id)
    assert local.awaits(DEBIAN12.id)
    assert not local.has(MINI.id)
    building = asyncio.create_task(local.build())
    gate.set()
    await building
    assert local.has(MINI.id)
    assert not local.awaits(MINI.id)
    assert not local.awaits(DEBIAN12.id)
    assert not local.has(DEBIAN12.id)


async def test_only_what_is_wanted_and_missing_is_built(store: ImageStore) -> None:
    await put(store, MINI)
    local = LocalImages(store)
    local.expect(lambda image_id: image_id == MINI.id)
    await local.build()
    assert local.has(MINI.id)
    assert not local.has(DEBIAN12.id)


async def test_image_that_comes_by_another_way(store: ImageStore) -> None:
    local = LocalImages(store)
    local.expect(lambda _image_id: True)
    assert local.awaits(DEBIAN12.id)
    await put(store, DEBIAN12)
    assert local.has(DEBIAN12.id)
    assert not local.awaits(DEBIAN12.id)


async def test_an_image_that_another_process_has_just_built_is_not_built(
    store: ImageStore, gate: asyncio.Event
) -> None:
    local = LocalImages(store)
    local.expect(lambda image_id: image_id == MINI.id)
    async with store.draft(MINI.id) as draft:
        building = asyncio.create_task(local.build())
        await asyncio.sleep(0.05)
        draft.publish(MINI)
    async with asyncio.timeout(60):
        await building
    assert not gate.is_set()


async def test_a_build_that_goes_wrong_in_any_way_ends_nothing_else(
    store: ImageStore, gate: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def build(_draft: Draft, _progress: Callable[[str], None]) -> None:
        raise LookupError("a fault of the program")

    monkeypatch.setitem(images.BUILDERS, DEBIAN12.id, build)
    monkeypatch.setattr(images, "BUILDERS", dict(reversed(images.BUILDERS.items())))
    gate.set()
    local = LocalImages(store)
    local.expect(lambda _image_id: True)
    await local.build()
    assert local.has(MINI.id)
    assert not local.awaits(DEBIAN12.id)


async def test_a_build_that_stalls_is_ended_with_all_its_processes(
    store: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror that never answers: the programs wait, and hold their output open."""
    marker = f"stalled-{id(store)}"

    async def build(_draft: Draft, _progress: Callable[[str], None]) -> None:
        await run("sh", "-c", "tail -f /dev/null $0 & tail -f /dev/null $0", marker)

    monkeypatch.setitem(images.BUILDERS, MINI.id, build)
    monkeypatch.setattr(images, "_BUILD_SECONDS", 0.3)
    local = LocalImages(store)
    local.expect(lambda image_id: image_id == MINI.id)
    async with asyncio.timeout(60):
        await local.build()
    assert not local.awaits(MINI.id)
    assert search_process(marker) is None
    assert [path for path in store.root.rglob("*") if path.is_file()] == []
