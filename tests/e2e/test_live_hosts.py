"""A real guest goes between two hosts while it runs, each with a worker process of its own.

`ROOST_TEST_MOVES` moves (2), and as many in which a worker is killed.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import SETTLE_SECONDS
from tests.e2e.cloud import Cloud
from tests.e2e.local_catalog import REGION
from tests.e2e.worker_hosts import WorkerHost, guests_of, two_workers
from tests.engines.pinger import Pinger
from tests.engines.segment import Segment, answer_for, leave_to_others
from tests.engines.shell import Shell, make_shell
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.instances import INSTANCES, PASSWORD
from tests.support.volumes import VOLUMES

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

ROUNDS = int(os.environ.get("ROOST_TEST_MOVES", "2"))
_DEVICE = "/dev/disk/by-id/scsi-0Roost_Volume_data"
_BOOT = "cat /proc/sys/kernel/random/boot_id"


@dataclass
class Scene:
    """A guest with a volume and a firewall on one of two hosts."""

    cloud: Cloud
    segment: Segment
    shell: Shell
    hosts: tuple[WorkerHost, WorkerHost]
    row: Json

    async def place(self) -> tuple[WorkerHost, WorkerHost]:
        """Where it is, and where it is not."""
        done = self.cloud.command("instance", "show", str(self.row["id"]), "--json")
        assert done.returncode == 0, done.stderr
        name = json.loads(done.stdout)["host"]
        one, other = self.hosts
        return (one, other) if one.name == name else (other, one)

    async def says(self, command: str) -> str:
        address = IPv4Address(self.row["ipv4"][0])

        async def ask() -> str | None:
            return await asyncio.to_thread(
                self.segment.world.run, self.shell.run(address, f"{command} && echo")
            )

        printed = await until(ask, bool, SETTLE_SECONDS)
        assert printed is not None
        return printed.strip()

    async def migrate(self, there: WorkerHost) -> "subprocess.CompletedProcess[str]":
        for each in self.hosts:
            answer_for(each.network, self.row["ipv4"][0])
        move = ("instance", "migrate", str(self.row["id"]), "--host", there.name)
        return await asyncio.to_thread(self.cloud.command, *move)

    async def alive(self, host: WorkerHost) -> bool:
        alive: bool = json.loads(
            await asyncio.to_thread(self.cloud.host, "show", host.name, "--json")
        )["alive"]
        return alive

    def refused(self, *command: str) -> str:
        done = self.cloud.command("host", *command)
        assert done.returncode == 1, done.stdout
        return done.stderr.strip()

    async def check_sound(self) -> None:
        """It runs where the rows say, once; the other host has nothing of it."""
        here, there = await self.place()
        leave_to_others(there.network, self.row["ipv4"][0])
        client = await self.cloud.client()
        path = f"{INSTANCES}/{self.row['id']}"
        await until(
            lambda: client.get(path), lambda row: row["status"] == "running", SETTLE_SECONDS
        )
        await until(guests_of(there), lambda held: held == ([], []), SETTLE_SECONDS)
        assert await guests_of(here)() == ([self.row["id"]], [self.row["id"]])
        for each in self.hosts:
            each.run("fsck")


@pytest_asyncio.fixture(scope="module")
async def scene(
    tmp_path_factory: pytest.TempPathFactory, database_server: DatabaseServer
) -> AsyncIterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("live-hosts")
    async with two_workers(folder, database_server) as (cloud, segment, hosts):
        shell = make_shell(folder, "br0")
        yield await _begun(Scene(cloud, segment, shell, hosts, None))


async def _begun(scene: Scene) -> Scene:
    client = await scene.cloud.client()
    body = {
        "region": REGION,
        "type": "g1-roomy-1",
        "image": MINI.id,
        "label": "wanderer",
        "root_pass": PASSWORD,
        "authorized_keys": [scene.shell.public_key],
        "swap_size": 16,
    }

    async def create() -> Json:
        answer = await client.send("POST", INSTANCES, body)
        return answer.body if answer.status == 200 else None

    row = await until(create, bool, SETTLE_SECONDS)
    path = f"{INSTANCES}/{row['id']}"
    await until(lambda: client.get(path), lambda row: row["status"] == "running", SETTLE_SECONDS)
    scene = replace(scene, row=row)
    here, _ = await scene.place()
    answer_for(here.network, row["ipv4"][0])
    await client.post(VOLUMES, {"label": "data", "compute_id": row["id"], "size": 10})
    await scene.says(f"test -b {_DEVICE}")
    return scene


@pytest.mark.timeout(300 + 60 * ROUNDS)
async def test_a_guest_goes_there_and_back_while_it_runs(scene: Scene) -> None:
    boot = await scene.says(_BOOT)
    for number in range(ROUNDS):
        await scene.says(f"echo {number} >/root/mark; echo {number} >{_DEVICE}; sync")
        here, there = await scene.place()
        with Pinger(scene.segment.world.name, IPv4Address(scene.row["ipv4"][0])) as pinger:
            done = await scene.migrate(there)
            said = f"instance {scene.row['id']} is on host {there.name}\n"
            assert (done.returncode, done.stdout) == (0, said), done.stderr
            leave_to_others(here.network, scene.row["ipv4"][0])
            assert await scene.says(_BOOT) == boot, "it was started anew"
        assert await scene.says(f"cat /root/mark; head -n 1 {_DEVICE}") == f"{number}\n{number}"
        await scene.check_sound()
        print(f"round {number + 1}: silent for {pinger.gap() * 1000:.0f} ms")  # noqa: T201


@pytest.mark.timeout(300 + 60)
async def test_a_detached_volume_is_brought_to_its_guest(scene: Scene) -> None:
    """The guest has gone to another host without it, and gets it there with what was written."""
    client = await scene.cloud.client()
    await scene.says(f"echo brought >{_DEVICE}; sync")
    [volume] = (await client.get(VOLUMES))["data"]
    path = f"{VOLUMES}/{volume['id']}"
    await client.post(f"{path}/detach")
    await until(lambda: client.get(path), lambda row: row["compute_id"] is None, SETTLE_SECONDS)
    here, there = await scene.place()
    done = await scene.migrate(there)
    assert done.returncode == 0, done.stderr
    leave_to_others(here.network, scene.row["ipv4"][0])
    assert (_holds(here, volume["id"]), _holds(there, volume["id"])) == (True, False)
    await client.post(f"{path}/attach", {"compute_id": scene.row["id"]})
    await scene.says(f"until test -b {_DEVICE}; do sleep 0.2; done")
    assert await scene.says(f"head -n 1 {_DEVICE}") == "brought"
    await scene.says(f"echo written there >{_DEVICE}; sync; echo 3 >/proc/sys/vm/drop_caches")
    assert await scene.says(f"head -n 1 {_DEVICE}") == "written there"
    await _gone(here, volume["id"])
    assert _holds(there, volume["id"])
    await scene.check_sound()


def _holds(host: WorkerHost, volume_id: int) -> bool:
    """Whether any file of the volume is there."""
    return any((host.held.directory / "volumes").glob(f"*{volume_id}*"))


async def _gone(host: WorkerHost, volume_id: int) -> None:
    async def held() -> bool:
        return _holds(host, volume_id)

    await until(held, lambda there: not there, SETTLE_SECONDS)


@pytest.mark.timeout(300 + 90 * ROUNDS)
async def test_one_guest_runs_whichever_worker_is_killed(scene: Scene) -> None:
    boot = await scene.says(_BOOT)
    for number in range(ROUNDS):
        here, there = await scene.place()
        victim, wait = (here, there)[number % 2], random.uniform(0.5, 6)
        moving = asyncio.create_task(scene.migrate(there))
        await asyncio.sleep(wait)
        await victim.kill()
        await victim.start()
        done = await moving
        print(f"worker of {victim.name} killed after {wait:.1f} s: {done.stdout}{done.stderr}")  # noqa: T201
        await scene.check_sound()
        assert await scene.says(_BOOT) == boot, "it was started anew"


@pytest.mark.timeout(600)
async def test_a_dead_hosts_guest_starts_elsewhere(scene: Scene, tmp_path: Path) -> None:
    """Its worker is cut off, and comes back when it is too late; the guest never runs twice."""
    await scene.says(f"echo kept >/root/mark; echo kept >{_DEVICE}; sync")
    boot, (here, there) = await scene.says(_BOOT), await scene.place()
    assert here.worker is not None
    os.kill(here.worker.pid, signal.SIGSTOP)
    await until(partial(scene.alive, here), lambda alive: not alive, SETTLE_SECONDS)
    [pid] = here.held.pids(scene.row["id"])
    power_off = tmp_path / "power-off"
    power_off.write_text(f"#!/bin/sh\n[ $1 = {here.name} ] && kill -9 {pid}\n")
    power_off.chmod(0o755)
    scene.cloud.host("fence", here.name, "--by", str(power_off))
    await until(lambda: guests_of(here)(), lambda held: held[0] == [])
    assert scene.refused("take-over", here.name, "--host", here.name).endswith("that runs")
    _carry_disks(here, there, scene.row["id"])
    leave_to_others(here.network, scene.row["ipv4"][0])
    answer_for(there.network, scene.row["ipv4"][0])
    scene.cloud.host("take-over", here.name, "--host", there.name)
    assert await scene.says(f"cat /root/mark; head -n 1 {_DEVICE}") == "kept\nkept"
    assert await scene.says(_BOOT) != boot
    os.kill(here.worker.pid, signal.SIGCONT)
    assert await here.worker.ended() == 1
    assert "is fenced" in here.log.read_text()
    assert (await guests_of(here)())[0] == []
    assert (await guests_of(there)())[0] == [scene.row["id"]]
    there.run("fsck")


def _carry_disks(here: WorkerHost, there: WorkerHost, compute_id: int) -> None:
    """As an operator does who has the drives of a dead machine."""
    there.held.directory.mkdir(parents=True, exist_ok=True)
    for what in (f"compute-{compute_id}", "volumes"):
        source, target = (each.held.directory / what for each in (here, there))
        subprocess.run(("cp", "-a", "--no-target-directory", source, target), check=True)
