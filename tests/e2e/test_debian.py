"""A whole Debian with cloud-init, made through the API."""

import asyncio
import base64
import json
from functools import partial
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path

import pytest
from passlib.hash import sha512_crypt

from roost.engines.qemu.images.debian12 import DEBIAN12
from tests.e2e.checks import check_sound
from tests.e2e.region import opened_region
from tests.engines.harness import Pools, until
from tests.engines.shell import Shell
from tests.support.client import Json
from tests.support.instances import PASSWORD
from tests.support.stackscripts import scripted

pytestmark = pytest.mark.qemu

_BOOT_SECONDS = 400.0
"""For a busy host; an idle one needs 40."""
_SWAP, _DISK = 128, 5120
"""MB; the disk is the plan's."""

_USER_DATA = """\
#cloud-config
write_files:
  - path: /etc/roost-written
    content: written by user data
    permissions: "0640"
runcmd:
  - [sh, -c, "hostname > /root/roost-ran"]
"""

_STACKSCRIPT = """\
#!/usr/bin/env python3
# <UDF name="site" label="Name of the site" />
import os, socket
print(socket.gethostname(), os.environ["SITE"], sep=": ")
"""


class Debian:
    """The guest, by its addresses as the API shows them."""

    def __init__(self, shell: Shell, row: Json) -> None:
        self.shell = shell
        self.ipv4 = row["ipv4"][0]
        self.ipv6 = row["ipv6"].partition("/")[0]

    async def run(self, command: str) -> str:
        """Again where a busy guest lets nobody in for a while."""
        printed = await until(
            partial(self.shell.run, self.ipv4, command), lambda said: said is not None, 180
        )
        assert printed is not None
        return printed.rstrip("\n")

    async def addresses(self, family: str) -> list[Json]:
        """Those of the whole world."""
        printed = await self.run(f"ip -json -{family} address show dev eth0 scope global")
        # Those that are filtered out leave empty objects.
        return [address for address in json.loads(printed)[0]["addr_info"] if address]


@pytest.mark.timeout(900)
async def test_a_debian_is_what_was_asked_for(tmp_path: Path) -> None:
    async with opened_region(tmp_path, DEBIAN12, job_lease=10) as region:
        await region.cloud.start()
        client = await region.cloud.client()
        user_data = base64.b64encode(_USER_DATA.encode()).decode()
        script = await scripted(client, script=_STACKSCRIPT)
        row = await client.post(
            "/compute/instances",
            region.body(
                "web-1",
                type="g1-micro-1",
                swap_size=_SWAP,
                metadata={"user_data": user_data},
                stackscript_id=script["id"],
                stackscript_data={"site": "it's"},
            ),
        )
        assert row["has_user_data"] is True
        debian = Debian(region.shell, row)
        await _log_in(debian, region.host.network)
        await _check_cloud_init(debian)
        await _check_identity(debian, region.shell.public_key)
        await _check_network(debian, region.host.pools)
        await _check_disks(debian)
        await check_sound(region.cloud, {row["id"]: "running"})


async def _log_in(debian: Debian, device: str) -> None:
    """The route to a guest is there when its job has started it."""

    async def routed() -> bool:
        get = ("ip", "-json", "route", "get", debian.ipv4)
        process = await asyncio.create_subprocess_exec(*get, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        return bool(json.loads(out)[0]["dev"] == device)

    await until(routed, bool, _BOOT_SECONDS)
    await until(partial(debian.shell.run, debian.ipv4, "echo up"), bool, _BOOT_SECONDS)


async def _check_cloud_init(debian: Debian) -> None:
    done = partial(debian.shell.run, debian.ipv4, "cat /run/cloud-init/result.json")
    result = await until(done, bool, _BOOT_SECONDS)
    assert result is not None
    outcome = json.loads(result)["v1"]
    assert outcome["errors"] == []
    assert outcome["datasource"].startswith("DataSourceNoCloud")
    assert "status: done" in await debian.run("cloud-init status")
    assert await debian.run("systemctl --failed --no-legend --plain") == ""


async def _check_identity(debian: Debian, key: str) -> None:
    assert await debian.run("hostname") == "web-1"
    assert key in (await debian.run("cat /root/.ssh/authorized_keys")).splitlines()
    line = await debian.run("grep ^root: /etc/shadow")
    assert sha512_crypt.verify(PASSWORD, line.split(":")[1])
    assert await debian.run("cat /etc/roost-written") == "written by user data"
    assert await debian.run("stat -c %a /etc/roost-written") == "640"
    assert await debian.run("cat /root/roost-ran") == "web-1"
    assert await debian.run("cat /var/log/stackscript.log") == "web-1: it's"


async def _check_network(debian: Debian, pools: Pools) -> None:
    [static] = await debian.addresses("4")
    assert IPv4Interface(f"{static['local']}/{static['prefixlen']}") == IPv4Interface(
        f"{debian.ipv4}/24"
    )
    assert not static.get("dynamic")
    [own] = await until(partial(debian.addresses, "6"), bool)
    assert IPv6Interface(f"{own['local']}/{own['prefixlen']}") == IPv6Interface(f"{debian.ipv6}/64")
    assert own["dynamic"], "it is not from a router advertisement"
    servers = (await debian.run("resolvectl dns eth0")).partition(": ")[2].split()
    assert set(servers) == {str(pools.ipv4.ip), str(pools.ipv6.ip)}
    over_ipv6 = partial(debian.shell.run, debian.ipv6, "hostname")
    assert await until(over_ipv6, bool) == "web-1\n"


async def _check_disks(debian: Debian) -> None:
    disk = int(await debian.run("blockdev --getsize64 /dev/sda")) // 2**20
    assert disk == _DISK - _SWAP
    root = int((await debian.run("df --block-size=1M --output=size /")).splitlines()[1])
    assert root > 0.93 * disk, "the file system has not grown"
    swap = int(await debian.run("swapon --show=SIZE --bytes --noheadings"))
    assert _SWAP - 1 < swap / 2**20 <= _SWAP
