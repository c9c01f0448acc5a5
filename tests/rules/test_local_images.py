"""What a region of this host offers while its images are being built."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from roost.app import images
from roost.app.images import LocalImages
from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.debian12 import DEBIAN12
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageStore


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(tmp_path)


@pytest.fixture(autouse=True)
def gate(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Mini is built when it opens; Debian cannot be built."""
    gate = asyncio.Event()

    async def build_mini(store: ImageStore, _progress: Callable[[str], None]) -> None:
        await gate.wait()
        async with store.build(MINI):
            pass

    async def build_debian12(_store: ImageStore, _progress: Callable[[str], None]) -> None:
        raise ImageError("no package sources")

    builders = {MINI.id: build_mini, DEBIAN12.id: build_debian12}
    monkeypatch.setattr(images, "BUILDERS", builders)
    return gate


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
    async with store.build(MINI):
        pass
    local = LocalImages(store)
    local.expect(lambda image_id: image_id == MINI.id)
    await local.build()
    assert local.has(MINI.id)
    assert not local.has(DEBIAN12.id)


async def test_image_that_comes_by_another_way(store: ImageStore) -> None:
    local = LocalImages(store)
    async with store.build(DEBIAN12):
        assert not local.has(DEBIAN12.id)
    assert local.has(DEBIAN12.id)
