"""A whole Debian with cloud-init, made through the API."""

import asyncio
import base64
import json
import os
from contextlib import AsyncExitStack
from functools import partial
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path

import pytest
from passlib.hash import sha512_crypt

from roost.engines.qemu.images.debian12 import DEBIAN12
from tests.e2e.checks import check_sound
from tests.e2e.outside import PACKAGE, opened_outside
from tests.e2e.region import opened_region
from tests.engines.harness import Pools, until
from tests.engines.shell import Shell
from tests.support.client import Client, Json
from tests.support.databases import DATABASES, at_rest, database_body
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

_SESSION = """\
import pymysql
try:
    client = pymysql.connect(host="{host}", port={port}, user="{username}", password="{password}",
        ssl_ca="/root/ca.pem", ssl_verify_identity=True, autocommit=True, connect_timeout=30)
except pymysql.OperationalError:
    print("refused")
    raise SystemExit
with client.cursor() as cursor:
    for statement in ("create database shop", "create table shop.orders (id int primary key)",
            "insert into shop.orders values (1), (2)", "select user()"):
        cursor.execute(statement)
    print(*cursor.fetchone())
    cursor.execute("show status like 'Ssl_cipher'")
    print(cursor.fetchone()[1])
    cursor.execute("select count(*) from shop.orders")
    print(*cursor.fetchone())
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


@pytest.mark.timeout(1500)
async def test_a_debian_is_what_was_asked_for(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    async with AsyncExitStack() as stack:
        outside = stack.enter_context(opened_outside(packages, os.getpid() % 63))
        opened = opened_region(tmp_path, DEBIAN12, host_address=outside.host, job_lease=10)
        region = await stack.enter_async_context(opened)
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
        await _check_packages(debian, outside.source)
        await _check_database(debian, client)
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


async def _check_packages(debian: Debian, source: str) -> None:
    """From a server outside, whom guests reach in the name of their host."""
    await debian.run(f"rm -rf /etc/apt/sources.list.d; echo '{source}' > /etc/apt/sources.list")
    install = f"(apt-get update && apt-get install --yes {PACKAGE}) > /root/apt.log 2>&1"
    await debian.run(f"nohup sh -c '{install}; echo $? > /root/apt.code' > /dev/null 2>&1 &")
    code = await until(partial(debian.shell.run, debian.ipv4, "cat /root/apt.code"), bool, 300)
    assert code == "0\n", await debian.run("cat /root/apt.log")
    assert await debian.run("python3 -c 'import pymysql; print(pymysql.__name__)'") == "pymysql"


async def _check_database(debian: Debian, client: Client) -> None:
    """A session over TLS from inside the guest, by the address that the database lets in."""
    body = database_body(region="local", engine="mysql/10.11", allow_list=[])
    row = await client.post(DATABASES, body)
    row = await at_rest(client, row["id"])
    assert row["status"] == "active"
    path = f"{DATABASES}/{row['id']}"
    login = await client.get(f"{path}/credentials")
    certificate = (await client.get(f"{path}/ssl"))["ca_certificate"]
    await debian.run(f"echo {certificate} | base64 --decode > /root/ca.pem")
    script = _SESSION.format(host=row["hosts"]["primary"], port=row["port"], **login)
    await debian.run(f"echo {base64.b64encode(script.encode()).decode()} | base64 -d > /root/ask")
    assert await debian.run("python3 /root/ask") == "refused"
    await client.put(path, {"allow_list": [debian.ipv4]})
    await at_rest(client, row["id"])
    who, cipher, count = (await debian.run("python3 /root/ask")).split()
    assert who == f"roostadmin@{debian.ipv4}"
    assert cipher.startswith("TLS_")
    assert count == "2"
    await client.delete(path)
