"""The server is killed at every boundary of the steps of every job on instances."""

import signal
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from roost.jobs.faults import Boundary, Point
from roost.resources.compute.jobs import CAPACITY, KINDS
from tests.e2e.careful import Request, change, create, send_again, send_all
from tests.e2e.checks import check_sound, events_of, settled
from tests.e2e.cloud import Cloud, opened
from tests.support.instances import create_body

_DEADLY = (sys.executable, "-m", "tests.e2e.deadly_serve")
_FLEET = 3
"""Jobs that are under way at the same time; one of them is at the boundary."""

_BEFORE = {
    "compute_boot": "offline",
    "compute_shutdown": "running",
    "compute_reboot": "running",
    "compute_delete": "running",
}
_AFTER = {
    "compute_create": "running",
    "compute_boot": "running",
    "compute_shutdown": "offline",
    "compute_reboot": "running",
}

BOUNDARIES = [
    Boundary(kind.name, step.name, point)
    for kind in KINDS
    if kind is not CAPACITY  # Measured every minute; nobody asks for it.
    for step in kind.steps
    for point in Point
]


def _name(boundary: Boundary) -> str:
    point = boundary.point.name.lower().replace("_", "-")
    return f"{boundary.kind.removeprefix('compute_')}-{point}-{boundary.step}"


class Scene:
    """A server that can be killed, and what its instances have to be."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.expected: dict[int, str] = {}

    async def start(self) -> None:
        await self.cloud.start(program=_DEADLY)

    async def fleet(self, name: str, status: str) -> list[int]:
        """New instances that rest in a status."""
        client = await self.cloud.client()
        requests = _creations(name, status == "running")
        answers = [answer for answer in await send_all(client, requests) if answer]
        fleet = [answer.body["id"] for answer in answers]
        assert len(fleet) == _FLEET
        rows = await settled(self.cloud)
        assert {rows[compute_id]["status"] for compute_id in fleet} == {status}
        return fleet

    async def kill_at(self, boundary: Boundary, requests: list[Request]) -> list[int]:
        """Send requests while the server dies, and again when it is back.

        Returns the ids of the instances that were made.
        """
        server, client = self.cloud.server, await self.cloud.client()
        assert server is not None
        server.tell(f"{boundary.kind} {boundary.step} {boundary.point.name}")
        await server.said("armed")
        before = await send_all(client, requests)
        assert await server.ended() == -signal.SIGKILL
        await self.start()
        answers = await send_again(await self.cloud.client(), requests, before)
        return [answer.body["id"] for answer in answers if "id" in answer.body]


def _creations(name: str, booted: bool) -> list[Request]:
    return [
        create(create_body(label=f"{name}-{number}", booted=booted)) for number in range(_FLEET)
    ]


@pytest_asyncio.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    state = tmp_path_factory.mktemp("boundaries") / "state"
    async with opened(state, engines="simulated") as cloud:
        scene = Scene(cloud)
        await scene.start()
        yield scene


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=_name)
async def test_nothing_is_lost(scene: Scene, boundary: Boundary) -> None:
    """Lost, doubled, stuck or left over."""
    kind, name = boundary.kind, _name(boundary)
    actions = ["compute_create"]
    if kind == "compute_create":
        fleet = await scene.kill_at(boundary, _creations(name, booted=True))
        actions += ["compute_boot"]
    else:
        fleet = await scene.fleet(name, _BEFORE[kind])
        actions += ["compute_boot", kind] if _BEFORE[kind] == "running" else [kind]
        await scene.kill_at(boundary, [change(kind, compute_id) for compute_id in fleet])
    assert len(set(fleet)) == _FLEET
    if kind == "compute_delete":
        for compute_id in fleet:
            scene.expected.pop(compute_id, None)
    else:
        scene.expected |= dict.fromkeys(fleet, _AFTER[kind])
    await check_sound(scene.cloud, scene.expected)
    for compute_id in fleet:
        done = [(action, "finished") for action in actions]
        assert await events_of(scene.cloud, compute_id) == done


async def test_the_commands_agree(scene: Scene) -> None:
    """An ordinary server takes over what the killed ones made; then nothing is left to mend."""
    fleet = await scene.fleet("last", "running")
    scene.expected |= dict.fromkeys(fleet, "running")
    assert scene.cloud.server is not None
    await scene.cloud.server.kill()
    await scene.cloud.start()
    await check_sound(scene.cloud, scene.expected)
    done = scene.cloud.command("fsck")
    assert (done.returncode, done.stdout) == (0, "fsck: clean\n")
    await scene.cloud.server.kill()
    await scene.start()
