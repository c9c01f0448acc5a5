"""Two clouds with one folder of images: each keeps, shows and deletes its own private ones."""

import asyncio
import gzip
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import INFO, ROOT, ImageStore
from tests.e2e.cloud import Cloud
from tests.e2e.region import opened_region
from tests.support.client import until
from tests.support.cloud_disks import copy_images
from tests.support.images import ensure_mini
from tests.support.uploads import MB, disk_bytes, pending, send

_SHARED = "private/100000"


async def _upload(cloud: Cloud, mark: str, size: int) -> None:
    """It gets the first number that there is."""
    client = await cloud.client()
    answer = await pending(client, region="local")
    assert answer["image"]["id"] == _SHARED
    path = answer["upload_to"].removeprefix(cloud.url)
    assert await send(f"{cloud.url}{path}", gzip.compress(disk_bytes(mark, size))) == (200, {})
    row = await until(
        lambda: client.get(f"/images/{_SHARED}"), lambda row: row["status"] == "available"
    )
    assert row["size"] == size // MB


async def _mark(cloud: Cloud, folder: Path) -> str:
    """With which the disk of the cloud's image begins."""
    image = ImageStore.of(cloud.settings).find(_SHARED)
    assert image is not None
    raw = folder / "read.raw"
    command = ("qemu-img", "convert", "-O", "raw", str(image.directory / ROOT), str(raw))
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0
    return raw.read_bytes()[:8].rstrip(b"\0").decode()


async def _sound(cloud: Cloud, *options: str) -> None:
    done = await asyncio.to_thread(cloud.command, "fsck", *options)
    assert (done.returncode, done.stdout) == (0, done.stdout), done.stderr
    assert _SHARED not in done.stdout


def _put_back(settings_root: Path, store: ImageStore) -> None:
    """Where images were before clouds had folders of their own."""
    for part in ("private", ".versions/private"):
        target = settings_root / part
        target.mkdir(parents=True, exist_ok=True)
        (store.private / part / "100000").rename(target / "100000")
    (store.private / "private").rmdir()


@pytest.mark.qemu
@pytest.mark.spec("A images 7")
async def test_two_clouds_number_their_images_alike(tmp_path: Path) -> None:
    images = await asyncio.to_thread(copy_images, ensure_mini().root, tmp_path / "images")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    async with AsyncExitStack() as stack:
        one, other = [
            (await stack.enter_async_context(opened_region(tmp_path / name, MINI, images=images)))
            for name in ("one", "other")
        ]
        clouds = (one.cloud, other.cloud)
        for cloud in clouds:
            await cloud.start()
        await asyncio.gather(
            _upload(one.cloud, "one", 3 * MB), _upload(other.cloud, "other", 5 * MB)
        )
        assert [await _mark(cloud, tmp_path) for cloud in clouds] == ["one", "other"]
        for cloud in clouds:
            await _sound(cloud, "--repair")
        assert [await _mark(cloud, tmp_path) for cloud in clouds] == ["one", "other"]

        client = await one.cloud.client()
        await client.delete(f"/images/{_SHARED}")
        await until(
            lambda: asyncio.to_thread(ImageStore.of(one.cloud.settings).find, _SHARED),
            lambda found: found is None,
        )
        for cloud in clouds:
            await _sound(cloud, "--repair")
        assert await _mark(other.cloud, tmp_path) == "other"
        await client.get(f"/images/{MINI.id}")
        for cloud in clouds:
            await cloud.close()


@pytest.mark.qemu
async def test_an_image_of_a_former_release_goes_to_the_cloud_that_made_it(tmp_path: Path) -> None:
    images = await asyncio.to_thread(copy_images, ensure_mini().root, tmp_path / "images")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    async with AsyncExitStack() as stack:
        one, other = [
            (await stack.enter_async_context(opened_region(tmp_path / name, MINI, images=images)))
            for name in ("one", "other")
        ]
        for region, mark, size in ((one, "one", 3 * MB), (other, "other", 5 * MB)):
            await region.cloud.start()
            await _upload(region.cloud, mark, size)
            await region.cloud.close()
        former = ImageStore.of(one.cloud.settings)
        await asyncio.to_thread(shutil.rmtree, ImageStore.of(other.cloud.settings).private)
        await asyncio.to_thread(_put_back, images, former)
        await other.cloud.start()
        assert ImageStore.of(other.cloud.settings).find(_SHARED) is None
        assert (images / _SHARED / INFO).exists()
        done = await asyncio.to_thread(other.cloud.command, "fsck", "--repair")
        assert "image 100000 of region local has lost its data" in done.stdout
        assert "images_of_nobody" in other.cloud.log.read_text()
        await one.cloud.start()
        assert await _mark(one.cloud, tmp_path) == "one"
        assert not (images / _SHARED).exists()
        await _sound(one.cloud, "--repair")
        for region in (one, other):
            await region.cloud.close()
