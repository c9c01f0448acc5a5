"""Uploads of images to a server that may be killed, and that holds little of them in memory."""

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from roost.engines.qemu.images.store import UPLOADS, cloud_folder
from tests.e2e.cloud import Cloud, opened
from tests.support.client import Json, until
from tests.support.uploads import MB, disk_bytes, in_pieces, pending, send

_SIZE = int(os.environ.get("ROOST_TEST_UPLOAD_MB", "512"))
"""Of a sparse disk; 5120 takes half a minute."""
_GROWN = 48
"""MB of memory that an upload may take."""


async def _available(cloud: Cloud, image: str) -> Json:
    client = await cloud.client()
    return await until(
        lambda: client.get(f"/images/{image}"), lambda row: row["status"] == "available"
    )


@pytest.mark.spec("A images 4")
async def test_a_server_that_is_killed_takes_the_data_anew(tmp_path: Path) -> None:
    async with opened(tmp_path / "state", engines="simulated", images=tmp_path / "images") as cloud:
        await cloud.start()
        answer = await pending(await cloud.client())
        image, path = answer["image"]["id"], answer["upload_to"].removeprefix(cloud.url)
        data = gzip.compress(disk_bytes("mark", 3 * MB))
        pieces = in_pieces(data[:50], data[50:], then=asyncio.Event())
        first = asyncio.create_task(send(f"{cloud.url}{path}", pieces))
        spool = cloud_folder(tmp_path / "images", cloud.settings.sealing_key) / UPLOADS
        await until(lambda: _names(spool), bool)
        assert cloud.server is not None
        await cloud.server.kill()
        with pytest.raises(aiohttp.ClientError):
            await first
        await cloud.start()
        row = await (await cloud.client()).get(f"/images/{image}")
        assert (row["status"], row["size"]) == ("pending_upload", 0)
        assert await send(f"{cloud.url}{path}", data) == (200, {})
        assert (await _available(cloud, image))["size"] == 3
        assert await until(lambda: _names(spool), lambda names: not names) == []
        checked = await asyncio.to_thread(cloud.command, "fsck")
        assert checked.returncode == 0, checked.stdout


async def _names(folder: Path) -> list[str]:
    return await asyncio.to_thread(lambda: os.listdir(folder) if folder.exists() else [])


@pytest.mark.spec("A images 5")
@pytest.mark.timeout(1200)
async def test_a_large_disk_takes_little_memory_and_room(tmp_path: Path) -> None:
    async with opened(tmp_path / "state", engines="simulated", images=tmp_path / "images") as cloud:
        await cloud.start()
        assert cloud.server is not None
        answer = await pending(await cloud.client())
        before = _memory(cloud.server.pid, "VmRSS")
        await asyncio.to_thread(Path(f"/proc/{cloud.server.pid}/clear_refs").write_text, "5")
        assert await send(answer["upload_to"], _sparse(_SIZE)) == (200, {})
        grown = _memory(cloud.server.pid, "VmHWM") - before
        assert grown < _GROWN, f"{grown} MB"
        assert (await _available(cloud, answer["image"]["id"]))["size"] == _SIZE


async def _sparse(size: int) -> AsyncIterator[bytes]:
    """A gzip file of a disk of so many MB, of which the first alone is not zeros."""
    packer = zlib.compressobj(1, wbits=31)
    for piece in (disk_bytes("mark"), *[bytes(MB)] * (size - 1)):
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def _memory(pid: int, field: str) -> int:
    """MB; VmHWM is the most since it was reset."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(f"{field}:")]
    return int(line.split()[1]) // 1024
