"""The server is killed at random moments while real guests are made, booted and deleted.

The moments of a failure come again with the ROOST_TEST_SEED that it prints.
"""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.images.mini import MINI
from tests.e2e.careful import Request, change, create, send_again, send_all
from tests.e2e.checks import check_sound, events_of, settled
from tests.e2e.host import Held
from tests.e2e.region import Region, opened_region
from tests.engines.harness import until

pytestmark = pytest.mark.qemu

_SEED = int(os.environ.get("ROOST_TEST_SEED") or random.SystemRandom().randrange(10**9))
_KINDS = {
    "compute_create": 1.0,
    "compute_boot": 0.6,
    "compute_reboot": 3.0,
    "compute_shutdown": 2.0,
    "compute_delete": 0.3,
}
"""How long each of them takes, in seconds, when the machine has little else to do."""
_NEEDS = {
    "compute_boot": "offline",
    "compute_reboot": "running",
    "compute_shutdown": "running",
    "compute_delete": "offline",
}
_GIVES = {"compute_boot": "running", "compute_reboot": "running", "compute_shutdown": "offline"}


class Scene:
    """What the instances have to be; one of them is left alone."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.cloud = region.cloud
        self.expected: dict[int, str] = {}
        self.witness = 0
        self._made = 0

    def creation(self, booted: bool = True) -> Request:
        self._made += 1
        return create(self.region.body(f"guest-{self._made}", booted=booted))

    async def make(self, status: str) -> int:
        """A new instance that rests."""
        client = await self.cloud.client()
        body = self.creation(status == "running").body
        compute_id: int = (await client.post("/compute/instances", body))["id"]
        self.expected[compute_id] = status
        rows = await settled(self.cloud)
        assert rows[compute_id]["status"] == status
        return compute_id

    async def any_of(self, status: str, chance: random.Random) -> int:
        """An instance of this status, made if need be."""
        fit = [i for i in self.expected if self.expected[i] == status and i != self.witness]
        return chance.choice(fit) if fit else await self.make(status)

    async def plan(self, kind: str, chance: random.Random) -> list[Request]:
        """A request of this kind, and perhaps others to other instances."""
        if kind == "compute_create":
            return [self.creation(), *self._others(chance, self.witness)]
        chosen = await self.any_of(_NEEDS[kind], chance)
        others = self._others(chance, chosen)
        self._expect(kind, chosen)
        more = [self.creation()] if len(self.expected) < 3 else []
        return [change(kind, chosen), *more, *others]

    def _others(self, chance: random.Random, chosen: int) -> list[Request]:
        requests = []
        for compute_id in set(self.expected) - {chosen, self.witness}:
            status = self.expected[compute_id]
            fit = [kind for kind, needed in _NEEDS.items() if needed == status]
            if chance.random() < 0.5:
                kind = chance.choice(fit)
                self._expect(kind, compute_id)
                requests.append(change(kind, compute_id))
        return requests

    def _expect(self, kind: str, compute_id: int) -> None:
        if kind == "compute_delete":
            del self.expected[compute_id]
        else:
            self.expected[compute_id] = _GIVES[kind]

    async def kill_after(self, seconds: float, requests: list[Request]) -> None:
        """Let the server begin what is requested, and its successor end it."""
        assert self.cloud.server is not None
        sending = asyncio.create_task(send_all(await self.cloud.client(), requests))
        await asyncio.sleep(seconds)
        await self.cloud.server.kill()
        assert await self.cloud.server.ended() == -signal.SIGKILL
        before = await sending
        await self.cloud.start()
        rows = (await self.cloud.instances()).values()
        print("found:", *(f"{row['id']} {row['status']}" for row in rows))  # noqa: T201
        for answer in await send_again(await self.cloud.client(), requests, before):
            if "id" in answer.body:
                self.expected[answer.body["id"]] = "running"

    async def check(self) -> None:
        """The machine holds what the rows say, and nothing else."""
        await check_sound(self.cloud, self.expected)
        held = await self.held()
        assert held.folders == sorted(self.expected)
        assert set(held.filtered) <= set(self.expected)
        for compute_id in self.expected:
            assert {status for _, status in await events_of(self.cloud, compute_id)} == {"finished"}

    async def held(self) -> Held:
        """Returns when each running instance has one QEMU with one tap, and no other has."""
        running = sorted(i for i, status in self.expected.items() if status == "running")
        read = partial(asyncio.to_thread, self.region.host.held)
        return await until(read, lambda held: held.processes == running == held.taps)


@pytest_asyncio.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("guests")
    async with opened_region(folder, MINI) as region:
        scene = Scene(region)
        await region.cloud.start()
        scene.witness = await scene.make("running")
        yield scene


@pytest.mark.parametrize("moment", range(len(_KINDS)))
async def test_killed_at_a_random_moment(scene: Scene, moment: int) -> None:
    kind = list(_KINDS)[moment % len(_KINDS)]
    chance = random.Random(f"{_SEED} {moment}")
    requests = await scene.plan(kind, chance)
    seconds = chance.uniform(0, _KINDS[kind])
    plan = [(request.method, request.path) for request in requests]
    print(f"ROOST_TEST_SEED={_SEED}: killed after {seconds:.3f} s of {plan}")  # noqa: T201
    pids = scene.region.host.pids(scene.witness)
    await scene.kill_after(seconds, requests)
    await scene.check()
    assert len(pids) == 1
    assert scene.region.host.pids(scene.witness) == pids


async def test_guests_outlive_their_server(scene: Scene) -> None:
    """However it ends; `roost down` ends them too, and the next start brings them back."""
    cloud, host, shell = scene.cloud, scene.region.host, scene.region.shell
    rows = await cloud.instances()
    [address] = rows[scene.witness]["ipv4"]
    boot = partial(shell.run, address, "cat /proc/sys/kernel/random/boot_id")
    await shell.booted(address)
    [pid], name = host.pids(scene.witness), await boot()
    assert cloud.server is not None
    code, seconds = await cloud.server.terminate()
    assert code == 0
    assert seconds < 10
    assert await boot() == name
    await cloud.start()
    await scene.check()
    await cloud.server.kill()
    assert await boot() == name
    await cloud.start()
    await scene.check()
    assert (host.pids(scene.witness), await boot()) == ([pid], name)
    done = await asyncio.to_thread(cloud.command, "down")
    assert done.returncode == 0, done.stderr
    assert host.remains() == []
    await cloud.start()
    await scene.held()
    await shell.booted(address)
    assert await boot() != name
    await scene.check()
    done = await asyncio.to_thread(cloud.command, "fsck")
    assert (done.returncode, done.stdout) == (0, "fsck: clean\n")
