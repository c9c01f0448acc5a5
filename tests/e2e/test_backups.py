"""Backups as their users meet them: a running guest is saved, spoilt, restored and multiplied."""

import os
from functools import partial
from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import check_sound, settled
from tests.e2e.region import Region, opened_region
from tests.e2e.story import Story
from tests.support.client import Json, until
from tests.support.instances import INSTANCES

pytestmark = pytest.mark.qemu

_READ = "hostname; cat /root/data; test -e /root/later && echo later; true"
_BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


async def test_the_backups_of_an_instance(tmp_path: Path) -> None:
    async with opened_region(tmp_path, MINI) as region:
        await region.cloud.start()
        story = Story(region)
        first = await _create(story, region.body("first"))
        backup = await _save(story, first)
        await story.done(first, "echo spoilt >/root/data; touch /root/later; sync")
        await _restore_in_place(story, first, backup["id"])
        body = {"region": "local", "type": "g1-tiny-1", "backup_id": backup["id"]}
        second = await _create(story, {**body, "label": "second"})
        assert await story.done(second, _READ) == "second\nprecious"
        await _have_addresses_of_their_own(story, first, second)
        await _cancel(story, first)
        assert await story.done(second, f"echo 3 >/proc/sys/vm/drop_caches; {_READ}") == (
            "second\nprecious"
        )
        await check_sound(region.cloud, {first: "running", second: "running"})
        checked = region.cloud.command("fsck")
        assert checked.returncode == 0, checked.stdout
        story.tell(f"roost fsck: {checked.stdout.strip()}")
        assert _disks_on_host(region, first) == await _disks(story, first)


async def _create(story: Story, body: Json) -> int:
    row = await story.send("POST", INSTANCES, body)
    assert (await story.ended(row["id"], "compute_create"))["status"] == "finished"
    await settled(story.region.cloud)
    await story.booted(row["id"])
    return int(row["id"])


async def _save(story: Story, compute_id: int) -> Json:
    """A snapshot of the running guest, which goes on; it holds what was written until then."""
    backups = f"{INSTANCES}/{compute_id}/backups"
    await story.send("POST", f"{backups}/enable")
    booted = await story.done(compute_id, f"echo precious >/root/data; sync; {_BOOT_ID}")
    begun = await story.send("POST", backups, {"label": "before"})
    assert (await story.ended(compute_id, "compute_snapshot"))["status"] == "finished"
    assert await story.done(compute_id, _BOOT_ID) == booted
    saved: Json = await story.read(f"{backups}/{begun['id']}")
    assert (saved["status"], saved["available"], saved["label"]) == ("successful", True, "before")
    assert [disk["size"] for disk in saved["disks"]] == [240, 16]
    assert (await story.read(backups))["snapshot"] == {"current": saved, "in_progress": None}
    assert _backups_on_host(story.region) == [f"backup-{saved['id']}"]
    return saved


async def _restore_in_place(story: Story, compute_id: int, backup_id: int) -> None:
    """The new disks take the place of those that the guest runs on."""
    former = await _disks(story, compute_id)
    path = f"{INSTANCES}/{compute_id}"
    body = {"compute_id": compute_id, "overwrite": True}
    await story.send("POST", f"{path}/backups/{backup_id}/restore", body)
    assert (await story.ended(compute_id, "backups_restore"))["status"] == "finished"
    assert (await story.read(path))["status"] == "offline"
    assert story.region.host.pids(compute_id) == []
    disks = await _disks(story, compute_id)
    assert len(disks) == len(former)
    assert not disks & former
    assert _disks_on_host(story.region, compute_id) == disks
    await story.send("POST", f"{path}/boot")
    assert (await story.ended(compute_id, "compute_boot"))["status"] == "finished"
    await story.booted(compute_id)
    assert await story.done(compute_id, _READ) == "first\nprecious"


async def _have_addresses_of_their_own(story: Story, *compute_ids: int) -> None:
    """As the API shows them, and as the guests have them."""
    shown = [await story.read(f"{INSTANCES}/{each}") for each in compute_ids]
    assert len({row["ipv4"][0] for row in shown}) == len(shown)
    for row in shown:
        ipv4, ipv6 = row["ipv4"][0], row["ipv6"].partition("/")[0]
        # The guest gets the second of them from the router, in its own time.
        listed = "ip -o address show dev eth0 scope global"
        await until(partial(story.run, row["id"], f"{listed} | grep -F ' {ipv6}/'"), bool)
        assert f" {ipv4}/" in await story.done(row["id"], listed)


async def _cancel(story: Story, compute_id: int) -> None:
    path = f"{INSTANCES}/{compute_id}"
    await story.send("POST", f"{path}/backups/cancel")
    assert (await story.ended(compute_id, "backups_cancel"))["status"] == "finished"
    assert _backups_on_host(story.region) == []
    none = {"automatic": [], "snapshot": {"current": None, "in_progress": None}}
    assert await story.read(f"{path}/backups") == none
    assert (await story.read(path))["backups"]["enabled"] is False


async def _disks(story: Story, compute_id: int) -> set[int]:
    return {row["id"] for row in (await story.read(f"{INSTANCES}/{compute_id}/disks"))["data"]}


def _disks_on_host(region: Region, compute_id: int) -> set[int]:
    """Also of those that are only begun."""
    names = os.listdir(region.host.directory / f"compute-{compute_id}")
    return {int(name.split(".")[0][5:]) for name in names if name.startswith("disk-")}


def _backups_on_host(region: Region) -> list[str]:
    return os.listdir(region.host.directory / "backups")
