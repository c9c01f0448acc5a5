"""One real guest's life: rescued, given a password and a larger plan, cloned and rebuilt."""

from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.network.config import METADATA
from tests.e2e.checks import SETTLE_SECONDS, check_sound
from tests.e2e.guest import Guest
from tests.e2e.region import opened_region
from tests.support.client import until
from tests.support.instances import INSTANCES, PASSWORD

pytestmark = pytest.mark.qemu

_SWAP, _TINY, _MICRO = 16, 256, 5120
"""MB; the disks of the plans."""


async def test_the_life_of_an_instance(tmp_path: Path) -> None:
    async with opened_region(tmp_path, MINI) as region:
        await region.cloud.start()
        client = await region.cloud.client()
        row = await client.post(INSTANCES, region.body("first"))
        guest = await Guest.of(region, row)
        await until(guest.row, lambda row: row["status"] == "running", SETTLE_SECONDS)
        await guest.says("echo mine >/root/mark && sync")
        await _ask_about_itself(guest)
        await _rescue(guest)
        await _grow_with_a_password(guest)
        clone = await _clone(guest)
        await _rebuild(guest)
        ids = [(await each.row())["id"] for each in (guest, clone)]
        await check_sound(region.cloud, dict.fromkeys(ids, "running"))


async def _ask_about_itself(guest: Guest) -> None:
    """By HTTP, at both addresses of the metadata service."""
    row = await guest.row()
    for address in map(str, METADATA):
        token = await _asked(guest, address, "PUT /v1/token", "Metadata-Token-Expiry-Seconds: 60")
        header = f"Metadata-Token: {token}"
        instance = await _asked(guest, address, "GET /v1/instance", header)
        assert {f"id: {row['id']}", f"label: {row['label']}"} < set(instance.splitlines())
    keys = await _asked(guest, address, "GET /v1/ssh-keys", header)
    assert keys == f"users.root: {guest.region.shell.public_key}"


async def _asked(guest: Guest, address: str, what: str, header: str) -> str:
    """The body of an answer, by what the small image has: `nc`, which must not end first."""
    request = f"{what} HTTP/1.0\\r\\nHost: metadata\\r\\n{header}\\r\\n\\r\\n"
    said = await guest.says(f"(printf '{request}'; sleep 1) | nc {address} 80 | tr -d '\\r'")
    head, _, body = said.partition("\n\n")
    assert head.startswith("HTTP/1.1 200 "), said
    return body


async def _rescue(guest: Guest) -> None:
    """Its disk is there, and mounted by nobody."""
    await guest.do("rescue", {}, "running")
    size = (_TINY - _SWAP) * 2**20
    assert await guest.says("blockdev --getsize64 /dev/sda") == str(size)
    assert await guest.says("mount /dev/sda /mnt && cat /mnt/root/mark") == "mine"
    await guest.says("echo rescued >>/mnt/root/mark && umount /mnt")
    await guest.do("shutdown", None, "offline")


async def _grow_with_a_password(guest: Guest) -> None:
    await guest.client.post(f"{guest.path}/password", {"root_pass": "x7-Tangerine"})
    await guest.do("resize", {"type": "g1-micro-1"}, "offline")
    await guest.do("boot", {}, "running")
    assert await guest.says("tr '\\n' ' ' </root/mark") == "mine rescued"
    memory = int(await guest.says("awk '/MemTotal/ { print $2 }' /proc/meminfo")) // 1024
    assert 400 < memory <= 512
    disk = _MICRO - _SWAP
    assert await guest.says("blockdev --getsize64 /dev/sda") == str(disk * 2**20)
    root = int(await guest.says("df -Pm / | awk 'END { print $2 }'"))
    assert root > 0.9 * disk, "the file system has not grown"
    await guest.check_password("x7-Tangerine")


async def _clone(guest: Guest) -> Guest:
    """While it runs; the clone is another guest with the same files."""
    wanted = {"region": "local", "type": "g1-micro-1", "label": "second"}
    clone = await Guest.of(guest.region, await guest.client.post(f"{guest.path}/clone", wanted))
    await until(clone.row, lambda row: row["status"] == "offline", SETTLE_SECONDS)
    assert (await guest.row())["status"] == "running"
    await clone.do("boot", {}, "running")
    assert await clone.says("hostname; tr '\\n' ' ' </root/mark") == "second\nmine rescued"
    return clone


async def _rebuild(guest: Guest) -> None:
    body = guest.region.body("unused")
    wanted = {key: body[key] for key in ("image", "authorized_keys")}
    await guest.do("rebuild", {**wanted, "root_pass": PASSWORD}, "running")
    assert await guest.says("hostname; ls /root") == "first"
    await guest.check_password(PASSWORD)
