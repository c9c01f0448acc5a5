"""Block storage as its users meet it: through the API, and from inside real guests over SSH."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from roost.app.fsck import check_all
from roost.app.roost import open_roost
from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import check_sound, settled
from tests.e2e.host import Host
from tests.e2e.region import opened_region
from tests.e2e.story import Story
from tests.engines.qemu_host import output
from tests.support.client import Json, until

pytestmark = pytest.mark.qemu

_PLACE_MB = 160
"""Of the host's disk for volumes."""
_DATA = "/mnt/data"
_MOUNT = "mount -o noatime,noinit_itable"


@dataclass
class VolumeStory(Story):
    """Of two running instances."""

    first: int = 0
    second: int = 0

    async def volume(self, volume_id: int) -> Json:
        return await self.read(f"/volumes/{volume_id}")

    async def create_volume(self, label: str, **more: object) -> int:
        row = await self.send("POST", "/volumes", {"label": label, "size": 10, **more})
        await self.ended(row["id"], "volume_create", "volume")
        assert (await self.volume(row["id"]))["status"] == "active"
        return int(row["id"])

    async def change(self, volume_id: int, what: str, body: Json = None) -> Json:
        """An operation on a volume, until its event has ended."""
        await self.send("POST", f"/volumes/{volume_id}/{what}", body)
        return await self.ended(volume_id, f"volume_{what}", "volume")

    async def path_of(self, volume_id: int, compute_id: int) -> str:
        """The volume's path, once the guest has it."""
        path: str = (await self.volume(volume_id))["filesystem_path"]
        await until(lambda: self.run(compute_id, f"test -b {path} && echo there"), bool)
        return path

    async def off(self, compute_id: int) -> None:
        """As it may be already."""
        path = f"/compute/instances/{compute_id}"
        if (await self.read(path))["status"] != "offline":
            await self.send("POST", f"{path}/shutdown")
            assert (await self.ended(compute_id, "compute_shutdown"))["status"] == "finished"

    async def volumes(self) -> list[int]:
        return [row["id"] for row in (await self.read("/volumes"))["data"]]

    async def places(self) -> list[str]:
        """What the host holds of volumes."""
        return os.listdir(self.region.host.directory / "volumes")

    def data(self, volume_id: int) -> Path:
        return self.region.host.directory / f"volumes/volume-{volume_id}/data.raw"


@contextmanager
def _small_place(host: Host) -> Iterator[None]:
    """Volumes are on a small disk of their own."""
    place = host.directory / "volumes"
    place.mkdir(parents=True)
    output("mount", "-t", "tmpfs", "-o", f"size={_PLACE_MB}m", "roost-test", str(place))
    try:
        yield
    finally:
        output("umount", "--lazy", str(place))


@pytest_asyncio.fixture(scope="module")
async def story(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[VolumeStory]:
    async with opened_region(tmp_path_factory.mktemp("block"), MINI) as region:
        with _small_place(region.host):
            await region.cloud.start()
            story = VolumeStory(region)
            client = await region.cloud.client()
            bodies = (region.body(name, type="g1-roomy-1") for name in ("first", "second"))
            rows = [await client.post("/compute/instances", body) for body in bodies]
            story.first, story.second = (row["id"] for row in rows)
            await settled(region.cloud)
            await asyncio.gather(*(story.booted(row["id"]) for row in rows))
            yield story
            await region.cloud.close()


async def test_data_travel_from_guest_to_guest(story: VolumeStory) -> None:
    """Made, attached, filled, grown, copied, moved, through a crash of the server."""
    first, second = story.first, story.second
    longest = "Roost-volume_of-32-characters-xY"
    volume_id = await story.create_volume(longest, region="local", tags=["travels"])
    attached = await story.change(volume_id, "attach", {"compute_id": first})
    assert attached["status"] == "finished"
    path = await story.path_of(volume_id, first)
    assert path == f"/dev/disk/by-id/scsi-0Roost_Volume_{longest}"
    assert await story.done(first, f"blockdev --getsize64 {path}") == str(10 << 30)
    await story.done(first, f"mkfs.ext4 -q {path} && {_MOUNT} {path} /mnt")
    await story.done(first, f"dd if=/dev/urandom of={_DATA} bs=64k count=64 2>/dev/null; sync")
    digest = await story.done(first, f"sha256sum <{_DATA}")

    refused = await story.change(volume_id, "detach")
    assert refused["status"] == "failed"
    assert "unmount it first" in refused["message"]
    assert (await story.volume(volume_id))["compute_id"] == first
    assert await story.done(first, f"sha256sum <{_DATA}") == digest

    await story.change(volume_id, "resize", {"size": 12})
    assert await story.done(first, f"blockdev --getsize64 {path}") == str(12 << 30)
    # Nothing is left for the kernel to write while the copy is compared.
    await story.done(first, f"resize2fs {path} && sync")
    assert int(await story.done(first, "df -Pm /mnt | awk 'END { print $2 }'")) > 11_000

    server = story.region.cloud.server
    assert server is not None
    await server.kill()
    story.tell("kill -9 of the server; it starts again")
    await story.region.cloud.start()
    assert await story.done(first, f"sha256sum <{_DATA}") == digest

    row = await story.send("POST", f"/volumes/{volume_id}/clone", {"label": "clone"})
    assert (await story.ended(volume_id, "volume_clone", "volume"))["status"] == "finished"
    files = [str(story.data(each)) for each in (volume_id, row["id"])]
    compared = output("qemu-img", "compare", "-U", "-f", "raw", "-F", "raw", *files)
    assert compared == "Images are identical.\n"
    story.tell("the mounted volume and its clone have the same bytes")

    await story.done(first, "umount /mnt")
    assert (await story.change(volume_id, "detach"))["status"] == "finished"
    assert (await story.volume(volume_id))["compute_id"] is None
    await until(lambda: story.run(first, f"test -e {path} || echo gone"), bool)
    for each in (volume_id, row["id"]):
        await story.change(each, "attach", {"compute_id": second})
        device = await story.path_of(each, second)
        await story.done(second, f"{_MOUNT} {device} /mnt")
        assert await story.done(second, f"sha256sum <{_DATA}") == digest
        await story.done(second, "umount /mnt")
    await story.change(row["id"], "detach")

    await _outlives_a_dead_qemu(story, volume_id, digest)
    await _is_free_when_its_instance_is_deleted(story, volume_id)
    for each in (volume_id, row["id"]):
        await story.send("DELETE", f"/volumes/{each}")
    await until(story.volumes, lambda rows: rows == [])
    await until(story.places, lambda names: names == [])


async def _outlives_a_dead_qemu(story: VolumeStory, volume_id: int, digest: str) -> None:
    """The server's next start finds the guest off, and the watchdog boots it with its volume."""
    server, (pid,) = story.region.cloud.server, story.region.host.pids(story.second)
    assert server is not None
    path = await story.path_of(volume_id, story.second)
    await story.done(story.second, f"{_MOUNT} {path} /mnt")
    await server.kill()
    os.kill(pid, signal.SIGKILL)
    story.tell("kill -9 of the server and of the second guest's QEMU; the server starts again")
    await story.region.cloud.start()
    await story.ended(story.second, "lassie_reboot")
    await story.booted(story.second)
    path = await story.path_of(volume_id, story.second)
    await story.done(story.second, f"{_MOUNT} {path} /mnt")
    assert await story.done(story.second, f"sha256sum <{_DATA}") == digest


async def _is_free_when_its_instance_is_deleted(story: VolumeStory, volume_id: int) -> None:
    body = story.region.body("third", type="g1-roomy-1", booted=False)
    assert (await story.volume(volume_id))["compute_id"] == story.second
    await story.send("DELETE", f"/compute/instances/{story.second}")
    row = await until(lambda: story.volume(volume_id), lambda row: row["compute_id"] is None)
    assert row["status"] == "active"
    story.second = (await story.send("POST", "/compute/instances", body))["id"]
    await settled(story.region.cloud)
    await check_sound(story.region.cloud, {story.first: "running", story.second: "offline"})


async def test_a_volume_whose_data_vanished_stops_only_its_instance(story: VolumeStory) -> None:
    await story.off(story.second)
    volume_id = await story.create_volume("vanishes", compute_id=story.second)
    story.data(volume_id).unlink()
    story.tell("the volume's file is removed from the host")
    await story.send("POST", f"/compute/instances/{story.second}/boot")
    event = await story.ended(story.second, "compute_boot")
    assert event["status"] == "failed"
    assert event["message"] == f"The data of volume {volume_id} do not exist"
    rows = await settled(story.region.cloud)
    assert (rows[story.first]["status"], rows[story.second]["status"]) == ("running", "offline")
    assert await story.done(story.first, "hostname")
    findings: list[str] = []
    async with open_roost(story.region.cloud.settings, beside=True) as roost:
        await check_all(roost, False, findings.append)
    assert [text for text in findings if f"volume {volume_id} " in text]
    story.tell(f"roost fsck: {findings}")
    assert (await story.change(volume_id, "detach"))["status"] == "finished"
    await story.send("POST", f"/compute/instances/{story.second}/boot")
    assert (await story.ended(story.second, "compute_boot"))["status"] == "finished"
    await story.send("DELETE", f"/volumes/{volume_id}")
    await until(story.volumes, lambda rows: rows == [])


async def test_a_full_disk_of_the_host_fails_the_clone_alone(story: VolumeStory) -> None:
    volume_id = await story.create_volume("full", compute_id=story.first)
    path = await story.path_of(volume_id, story.first)
    write = f"dd if=/dev/urandom of={path} bs=64k count=16 conv=fsync 2>/dev/null && echo written"
    await story.done(story.first, write)
    filler = story.region.host.directory / "volumes/filler"
    await asyncio.to_thread(_fill, filler)
    story.tell("the host's disk is full")
    event = await story.change(volume_id, "clone", {"label": "no-room"})
    assert event["status"] == "failed"
    assert event["message"] == "The volume could not be copied: the host's disk is full"
    client = await story.region.cloud.client()
    assert [each["id"] for each in (await client.get("/volumes"))["data"]] == [volume_id]
    assert await story.run(story.first, write.replace("bs=64k", "seek=99 bs=64k")) is None
    assert await story.done(story.first, "hostname")
    filler.unlink()
    assert await story.done(story.first, write) == "written"
    await story.change(volume_id, "detach")
    await story.send("DELETE", f"/volumes/{volume_id}")
    await until(story.volumes, lambda rows: rows == [])
    await check_sound(story.region.cloud, {story.first: "running", story.second: "running"})


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 12))
