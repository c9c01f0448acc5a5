"""One real guest's life: rescued, given a password and a larger plan, cloned and rebuilt."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest
from passlib.hash import sha512_crypt

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import SETTLE_SECONDS, check_sound
from tests.e2e.region import Region, opened_region
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, PASSWORD

pytestmark = pytest.mark.qemu

_SWAP, _TINY, _MICRO = 16, 256, 5120
"""MB; the disks of the plans."""


@dataclass(frozen=True)
class Guest:
    """An instance and root's shell in it."""

    region: Region
    client: Client
    path: str

    @classmethod
    async def of(cls, region: Region, row: Json) -> "Guest":
        return cls(region, await region.cloud.client(), f"{INSTANCES}/{row['id']}")

    async def do(self, action: str, body: Json, status: str) -> Json:
        """An action, once its events have ended well and the instance rests."""
        await self.client.post(f"{self.path}/{action}", body)
        row = await until(self.row, lambda row: row["status"] == status, SETTLE_SECONDS)
        wanted = {"entity.id": row["id"], "entity.type": "compute"}
        events = (await self.client.get("/account/events", filter=wanted))["data"]
        assert {event["status"] for event in events} <= {"finished", "notification"}
        return row

    async def row(self) -> Json:
        return await self.client.get(self.path)

    async def run(self, command: str) -> str | None:
        """What a command in the guest prints; None when it fails."""
        address = ip_address((await self.row())["ipv4"][0])
        return await self.region.shell.run(address, command)

    async def says(self, command: str) -> str:
        """The same, from when the guest answers."""
        printed = await until(lambda: self.run(f"{command} && echo"), bool, SETTLE_SECONDS)
        assert printed is not None
        return printed.strip()

    async def check_password(self, password: str) -> None:
        shadow = await self.says("grep ^root: /etc/shadow")
        assert sha512_crypt.verify(password, shadow.split(":")[1])


async def test_the_life_of_an_instance(tmp_path: Path) -> None:
    async with opened_region(tmp_path, MINI) as region:
        await region.cloud.start()
        client = await region.cloud.client()
        row = await client.post(INSTANCES, region.body("first"))
        guest = await Guest.of(region, row)
        await until(guest.row, lambda row: row["status"] == "running", SETTLE_SECONDS)
        await guest.says("echo mine >/root/mark && sync")
        await _rescue(guest)
        await _grow_with_a_password(guest)
        clone = await _clone(guest)
        await _rebuild(guest)
        ids = [(await each.row())["id"] for each in (guest, clone)]
        await check_sound(region.cloud, dict.fromkeys(ids, "running"))


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
