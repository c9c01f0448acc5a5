"""Real guests of two hosts in one VPC and one VLAN, also while they go from one to the other."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import SETTLE_SECONDS
from tests.e2e.cloud import Cloud
from tests.e2e.local_catalog import REGION
from tests.e2e.worker_hosts import WorkerHost, two_workers
from tests.engines.segment import Segment, answer_for, leave_to_others
from tests.engines.shell import Shell, make_shell
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.instances import INSTANCES, PASSWORD
from tests.support.vpcs import inside, made_vpc

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]


@dataclass
class Scene:
    cloud: Cloud
    segment: Segment
    shell: Shell
    hosts: tuple[WorkerHost, WorkerHost]
    guests: tuple[Json, Json]
    inside: tuple[str, str]
    """Their addresses in the VPC."""

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
        guests = list[Json]()
        for number, own in enumerate(VLAN):
            body = {
                "region": REGION,
                "type": "g1-roomy-1",
                "image": MINI.id,
                "label": f"guest-{number}",
                "root_pass": PASSWORD,
                "swap_size": 16,
                "authorized_keys": [shell.public_key],
                "interfaces": [
                    {"purpose": "public", "primary": True},
                    inside(vpc),
                    {"purpose": "vlan", "label": "back-end", "ipam_address": f"{own}/24"},
                ],
            }
            create = partial(client.send, "POST", INSTANCES, body)
            answer = await until(create, lambda answer: answer.status == 200, SETTLE_SECONDS)
            guests.append(answer.body)
        rows = (await client.get(f"/vpcs/{vpc['id']}/ips"))["data"]
        found = {row["compute_id"]: row["address"] for row in rows}
        one, other = guests
        scene = Scene(
            cloud, segment, shell, hosts, (one, other), (found[one["id"]], found[other["id"]])
        )
        for guest in guests:
            answer_for(scene.place(guest)[0].network, guest["ipv4"][0])
        yield scene


@pytest.mark.timeout(600)
async def test_guests_of_two_hosts_are_in_one_vpc_and_vlan(scene: Scene) -> None:
    """As long as one is powered on; both go to the other host while they run."""
    one, other = scene.guests
    assert scene.place(one)[0] != scene.place(other)[0]
    await scene.reaches(one, scene.inside[1], VLAN[1])
    await scene.reaches(other, scene.inside[0], VLAN[0])
    boot = await scene.says(one, "cat /proc/sys/kernel/random/boot_id")
    await scene.migrate(one)
    assert scene.place(one)[0] == scene.place(other)[0]
    await scene.reaches(one, scene.inside[1], VLAN[1])
    await scene.migrate(other)
    assert scene.place(one)[0] != scene.place(other)[0]
    await scene.reaches(one, scene.inside[1], VLAN[1])
    await scene.reaches(other, scene.inside[0], VLAN[0])
    assert await scene.says(one, "cat /proc/sys/kernel/random/boot_id") == boot
    for each in scene.hosts:
        each.run("fsck")
