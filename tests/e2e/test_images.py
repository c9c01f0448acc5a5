"""Images as their users meet them: uploaded, set up further, captured, deployed elsewhere."""

import asyncio
import base64
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from passlib.hash import sha512_crypt

from roost.engines.qemu.images.debian12 import DEBIAN12
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageInfo
from tests.e2e.checks import check_sound
from tests.e2e.host import Host
from tests.e2e.local_catalog import ELSEWHERE, REGION
from tests.e2e.region import opened_region
from tests.e2e.story import Story
from tests.engines.harness import claim_pools
from tests.support.client import Json, until
from tests.support.cloud_disks import copy_images, write_cloud_disk
from tests.support.images import ensure_debian12, ensure_mini
from tests.support.instances import INSTANCES, PASSWORD
from tests.support.uploads import OCTETS

pytestmark = pytest.mark.spec("A images 7")

_SECONDS = 1800.0
"""For a busy host without KVM; an idle one needs less than a minute."""
_SWAP, _DISK = 128, 5120
_USER_DATA = "#cloud-config\nruncmd: [[sh, -c, 'hostname >/root/ran']]\n"
_KEYS = "md5sum /etc/dropbear/dropbear_*_host_key | cut -d ' ' -f 1"
_IDENTITY = "cat /etc/machine-id /etc/ssh/ssh_host_*_key.pub"
_MB = 1024 * 1024


@pytest.mark.qemu
async def test_a_copy_in_another_region(tmp_path: Path) -> None:
    """Of a small guest, while it runs: what was written is there, and it is another machine."""
    async with _two_regions(tmp_path, MINI) as (story, other):
        first = await _small(story, REGION, MINI.id, "first")
        await story.done(first, "echo what was written >/root/mine; sync; cat /root/mine")
        before = await story.done(first, _KEYS)
        captured = await _capture(story, first)
        second = await _small(other, ELSEWHERE, captured, "second")
        printed = await other.done(second, "hostname; cat /root/mine")
        assert printed == "second\nwhat was written"
        after = await other.done(second, _KEYS)
        assert not {*before.splitlines()} & {*after.splitlines()}, "they share a key"
        await check_sound(story.region.cloud, {first: "running", second: "running"})


@pytest.mark.timeout(5400)
@pytest.mark.skipif(not os.environ.get("ROOST_TEST_STORIES"), reason="takes minutes without KVM")
async def test_from_an_upload_to_a_copy_in_another_region(tmp_path: Path) -> None:
    """Of a disk as clouds publish them: GRUB, a partition, Debian and cloud-init."""
    debian = ensure_debian12().find(DEBIAN12.id)
    assert debian is not None
    disk = await write_cloud_disk(debian, tmp_path)
    async with _two_regions(tmp_path, DEBIAN12) as (story, other):
        image = await _upload(story, disk)
        first = await _deploy(story, REGION, image, "uploaded")
        await _is_set_up(story, first)
        before = await _set_up_further(story, first, tmp_path)
        captured = await _capture(story, first)
        second = await _deploy(other, ELSEWHERE, captured, "copied")
        assert await other.done(second, "hostname; cat /root/mine; roost-sample") == (
            "copied\nwhat was written\nit is installed"
        )
        after = await other.done(second, _IDENTITY)
        assert not {*before.splitlines()} & {*after.splitlines()}, "they share an identity"
        await check_sound(story.region.cloud, {first: "running", second: "running"})


@asynccontextmanager
async def _two_regions(folder: Path, image: ImageInfo) -> AsyncIterator[tuple[Story, Story]]:
    """Stories in two regions of one host, which has a store of images for itself."""
    store = ensure_debian12() if image is DEBIAN12 else ensure_mini()
    images = await asyncio.to_thread(copy_images, store.root, folder / "images")
    pools = claim_pools()
    async with opened_region(folder, image, pools, images=images, job_lease=10) as here:
        host = Host(here.host.state, pools, ELSEWHERE)
        there = replace(here, host=host, shell=replace(here.shell, device=host.network))
        await here.cloud.start()
        story = Story(here)
        yield story, replace(story, region=there)
        await here.cloud.close()
        assert host.remains() == []


async def _small(story: Story, region: str, image: str, label: str) -> int:
    row: Json = await story.send(
        "POST", INSTANCES, story.region.body(label, region=region, image=image)
    )
    await until(
        lambda: story.read(f"{INSTANCES}/{row['id']}"),
        lambda row: row["status"] == "running",
        _SECONDS,
    )
    await until(partial(story.run, row["id"], "echo up"), bool, _SECONDS)
    return int(row["id"])


async def _upload(story: Story, disk: Path) -> str:
    """The id of an image that is available."""
    body = {"label": "built elsewhere", "region": "local", "cloud_init": True}
    answer = await story.send("POST", "/images/upload", body)
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session,
        session.put(answer["upload_to"], data=_pieces(disk), headers=OCTETS) as taken,
    ):
        assert (taken.status, await taken.json()) == (200, {})
    story.tell("PUT upload_to: 200 {}")
    return await _available(story, answer["image"]["id"])


async def _pieces(disk: Path) -> AsyncIterator[bytes]:
    with disk.open("rb") as file:
        while piece := file.read(_MB):
            yield piece


async def _available(story: Story, image: str) -> str:
    row = await until(
        lambda: story.read(f"/images/{image}"), lambda row: row["status"] == "available", _SECONDS
    )
    story.tell(f"  image {image} is available, {row['size']} MB")
    return image


async def _deploy(story: Story, region: str, image: str, label: str) -> int:
    """The id of a new instance that lets its owner in, and is done with its first boot."""
    user_data = base64.b64encode(_USER_DATA.encode()).decode()
    body = story.region.body(
        label,
        region=region,
        image=image,
        type="g1-micro-1",
        swap_size=_SWAP,
        metadata={"user_data": user_data},
    )
    row: Json = await story.send("POST", INSTANCES, body)
    status = partial(story.read, f"{INSTANCES}/{row['id']}")
    await until(status, lambda row: row["status"] == "running", _SECONDS)
    command = "cloud-init status --wait >/dev/null; cat /root/ran"
    ran = await until(partial(story.run, row["id"], command), bool, _SECONDS)
    assert ran == f"{label}\n"
    story.tell(f"  {label} answers on SSH, and has run its user data")
    return int(row["id"])


async def _is_set_up(story: Story, compute_id: int) -> None:
    """As an instance of a public image."""
    assert await story.done(compute_id, "hostname") == "uploaded"
    line = await story.run(compute_id, "grep ^root: /etc/shadow") or ""
    assert sha512_crypt.verify(PASSWORD, line.split(":")[1])
    assert await story.done(compute_id, "findmnt --noheadings --output SOURCE /") == "/dev/sda1"
    root = await story.done(compute_id, "df --block-size=1M --output=size / | tail -n 1")
    assert int(root) > 0.9 * (_DISK - _SWAP), "neither partition nor file system has grown"
    swap = await story.done(compute_id, "swapon --show=SIZE --bytes --noheadings")
    assert _SWAP - 1 < int(swap) / 2**20 <= _SWAP


async def _set_up_further(story: Story, compute_id: int, folder: Path) -> str:
    """Install a package and write a file; what the machine is told by."""
    tree = folder / "package"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/bin").mkdir(parents=True)
    lines = ("Package: roost-sample", "Version: 1", "Architecture: all", "Maintainer: nobody")
    (tree / "DEBIAN/control").write_text("\n".join((*lines, "Description: a sample\n")))
    program = tree / "usr/bin/roost-sample"
    program.write_text("#!/bin/sh\necho it is installed\n")
    program.chmod(0o755)
    build = ("dpkg-deb", "--root-owner-group", "--build", tree, folder / "sample.deb")
    await _run(*build)
    package = base64.b64encode((folder / "sample.deb").read_bytes()).decode()
    await story.run(compute_id, f"echo {package} | base64 -d >/root/sample.deb")
    await story.done(compute_id, "dpkg --install /root/sample.deb")
    await story.done(compute_id, "echo what was written >/root/mine; sync; cat /root/mine")
    return await story.done(compute_id, _IDENTITY)


async def _run(*command: str | os.PathLike[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


async def _capture(story: Story, compute_id: int) -> str:
    """Its guest goes on."""
    disks = (await story.read(f"{INSTANCES}/{compute_id}/disks"))["data"]
    booted = await story.run(compute_id, "cat /proc/sys/kernel/random/boot_id")
    body = {"disk_id": disks[0]["id"], "label": "set up", "cloud_init": True}
    row = await story.send("POST", "/images", body)
    image = await _available(story, row["id"])
    assert await story.run(compute_id, "cat /proc/sys/kernel/random/boot_id") == booted
    return image
