"""Real guests of two hosts in one VPC and one VLAN, also after they went from one to the other.

`ROOST_TEST_DRAINED` guests (2) leave a host that is drained.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.images.mini import MINI
from roost.ids import new_uuid
from tests.e2e.checks import SETTLE_SECONDS
from tests.e2e.cloud import Cloud
from tests.e2e.local_catalog import REGION
from tests.e2e.worker_hosts import WorkerHost, guests_of, two_workers
from tests.engines.pinger import Pinger
from tests.engines.segment import Segment, answer_for, leave_to_others
from tests.engines.shell import Shell, make_shell
from tests.support.client import Client, Json, until
from tests.support.database import DatabaseServer
from tests.support.instances import INSTANCES, PASSWORD
from tests.support.vpcs import inside, made_vpc

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]


DRAINED = int(os.environ.get("ROOST_TEST_DRAINED", "2"))
_BOOT = "cat /proc/sys/kernel/random/boot_id"


@dataclass
class Scene:
    cloud: Cloud
    segment: Segment
    shell: Shell
    hosts: tuple[WorkerHost, WorkerHost]
    guests: tuple[Json, Json]
    inside: tuple[str, str]
    """Their addresses in the VPC."""

    def of(self, number: int) -> tuple[str, ...]:
        """All addresses by which others reach one of the two: public, private, in VPC and VLAN."""
        return (*self.guests[number]["ipv4"], self.inside[number], VLAN[number])

    def place(self, guest: Json) -> tuple[WorkerHost, WorkerHost]:
        """Where it is, and where it is not."""
        done = self.cloud.command("instance", "show", str(guest["id"]), "--json")
        assert done.returncode == 0, done.stderr
        one, other = self.hosts
        return (one, other) if json.loads(done.stdout)["host"] == one.name else (other, one)

    async def says(self, guest: Json, command: str) -> str | None:
        """None as long as it does not answer, or the command fails."""
        address = IPv4Address(guest["ipv4"][0])
        return await asyncio.to_thread(
            self.segment.world.run, self.shell.run(address, f"{command} && echo done")
        )

    async def booted(self, guest: Json) -> str | None:
        """Which start of it answers."""
        return await until(partial(self.says, guest, _BOOT), bool, SETTLE_SECONDS)

    async def reaches(self, guest: Json, *addresses: str) -> None:
        """Soon; each with a packet that is as large as the network of a single host lets be."""
        for address in addresses:
            ping = f"ping -c 1 -W 1 -s 1472 {address} >/dev/null"
            await until(partial(self.says, guest, ping), bool, SETTLE_SECONDS)

    async def migrate(self, guest: Json) -> None:
        here, there = self.place(guest)
        for each in self.hosts:
            answer_for(each.network, guest["ipv4"][0])
        move = ("instance", "migrate", str(guest["id"]), "--host", there.name)
        done = await asyncio.to_thread(self.cloud.command, *move)
        assert done.returncode == 0, done.stderr
        assert "powered off" not in done.stdout
        leave_to_others(here.network, guest["ipv4"][0])


async def create(client: Client, shell: Shell, **changes: object) -> Json:
    """A guest, as soon as a host has room for it."""
    body = {
        "region": REGION,
        "type": "g1-tiny-1",
        "image": MINI.id,
        "label": f"guest-{new_uuid()[:8]}",
        "root_pass": PASSWORD,
        "swap_size": 16,
        "authorized_keys": [shell.public_key],
        **changes,
    }
    send = partial(client.send, "POST", INSTANCES, body)
    answer = await until(send, lambda answer: answer.status == 200, SETTLE_SECONDS)
    row: Json = answer.body
    return row


VLAN = ("10.77.0.1", "10.77.0.2")
"""The addresses that they give themselves."""


@pytest_asyncio.fixture(scope="module")
async def scene(
    tmp_path_factory: pytest.TempPathFactory, database_server: DatabaseServer
) -> AsyncIterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("networks")
    async with two_workers(folder, database_server) as (cloud, segment, hosts):
        shell = make_shell(folder, "br0")
        client = await cloud.client()
        vpc = await made_vpc(client, region=REGION)
        interfaces = [
            [
                {"purpose": "public", "primary": True},
                inside(vpc),
                {"purpose": "vlan", "label": "back-end", "ipam_address": f"{own}/24"},
            ]
            for own in VLAN
        ]
        one, other = [
            await create(client, shell, interfaces=each, private_ip=True) for each in interfaces
        ]
        rows = (await client.get(f"/vpcs/{vpc['id']}/ips"))["data"]
        found = {row["compute_id"]: row["address"] for row in rows}
        places = (found[one["id"]], found[other["id"]])
        scene = Scene(cloud, segment, shell, hosts, (one, other), places)
        for guest in scene.guests:
            answer_for(scene.place(guest)[0].network, guest["ipv4"][0])
        yield scene


async def test_each_host_itself_reaches_all(scene: Scene) -> None:
    """From an address to which guests of the other one have a way back."""
    assert scene.place(scene.guests[0])[0] != scene.place(scene.guests[1])[0]
    for host in scene.hosts:
        for guest in scene.guests:
            with Pinger(host.network.name, IPv4Address(guest["ipv4"][0])) as pinger:
                await until(partial(_heard, pinger), bool, SETTLE_SECONDS)


async def _heard(pinger: Pinger) -> bool:
    return bool(pinger.answered)


@pytest.mark.timeout(600)
async def test_guests_of_two_hosts_reach_each_other(scene: Scene) -> None:
    """As long as one is powered on; both go to the other host while they run."""
    one, other = scene.guests
    assert scene.place(one)[0] != scene.place(other)[0]
    await scene.reaches(one, *scene.of(1))
    await scene.reaches(other, *scene.of(0))
    boot = await scene.says(one, _BOOT)
    await scene.migrate(one)
    assert scene.place(one)[0] == scene.place(other)[0]
    await scene.reaches(one, *scene.of(1))
    await scene.migrate(other)
    assert scene.place(one)[0] != scene.place(other)[0]
    await scene.reaches(one, *scene.of(1))
    await scene.reaches(other, *scene.of(0))
    assert await scene.says(one, _BOOT) == boot
    for each in scene.hosts:
        each.run("fsck")


@pytest.mark.timeout(600 + 60 * DRAINED)
async def test_a_host_is_drained_while_its_guests_run(scene: Scene) -> None:
    """A line for each; all of them run on, elsewhere, and nothing of them is left."""
    here, there = scene.place(scene.guests[0])
    scene.cloud.host("drain", there.name, "--stay")
    client = await scene.cloud.client()
    made = [await create(client, scene.shell) for _ in range(DRAINED)]
    scene.cloud.host("undrain", there.name)
    for guest in made:
        answer_for(here.network, guest["ipv4"][0])
    boots = {guest["id"]: await scene.booted(guest) for guest in made}
    for guest in (*made, scene.guests[0]):
        answer_for(there.network, guest["ipv4"][0])
    began = time.monotonic()
    drain = partial(scene.cloud.host, "drain", here.name, seconds=300 + 30 * DRAINED)
    said = await asyncio.to_thread(drain)
    print(f"{len(said.splitlines())} guests in {time.monotonic() - began:.0f} s")  # noqa: T201
    assert said.count(f"is on host {there.name}") == DRAINED + 1
    for guest in (*made, scene.guests[0]):
        leave_to_others(here.network, guest["ipv4"][0])
    assert {guest["id"]: await scene.booted(guest) for guest in made} == boots
    await until(guests_of(here), lambda held: held == ([], []), SETTLE_SECONDS)
    for each in scene.hosts:
        each.run("fsck")
