"""Detached volumes that are attached to instances on another host of their region."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.jobs.kinds import Retry
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.settings import MAIN_HOST
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.hosts import REGION, Pair, sound, two_hosts
from tests.support.instances import INSTANCES
from tests.support.volumes import VOLUMES, volume_events, whole_events

ELSEWHERE = "Volume and Compute are on different hosts of the region."

pytestmark = pytest.mark.spec("A volumes attach")


@pytest.fixture(scope="module")
async def pair(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    async with two_hosts(database_server, tmp_path_factory.mktemp("volumes-of-hosts")) as pair:
        yield pair


def engine(pair: Pair, host: str) -> SimulatedVolumes:
    found = pair.roost(host).services.get(Engines).of(VOLUME_PLANE, REGION)
    assert isinstance(found, SimulatedVolumes)
    return found


async def volume_on(pair: Pair, host: str, label: str) -> Json:
    """Active, and attached to nothing."""
    async with pair.placing_on(host):
        row = await pair.client.post(VOLUMES, {"label": label, "region": REGION, "size": 20})
    await rests(pair, row["id"])
    assert await host_of(pair, row["id"]) == host
    return row


async def rests(pair: Pair, volume_id: int) -> None:
    """When nothing works on it, and no host has what is no longer its own."""
    busy = """
        select count(*) from job where finished is null
            and (resource = 'volume:' || $1 or resource like 'left:volume:' || $1 || '@%')
        """
    await until(partial(pair.main.store.fetchval, busy, str(volume_id)), lambda count: count == 0)


async def host_of(pair: Pair, volume_id: int) -> str:
    host: str = await pair.main.store.fetchval("select host from volume where id = $1", volume_id)
    return host


@pytest.mark.parametrize("booted", [True, False])
async def test_it_is_brought_to_the_instance(pair: Pair, booted: bool) -> None:
    row = await pair.made_on("b", booted=booted)
    volume = await volume_on(pair, MAIN_HOST, f"brought-{booted:d}")
    path = f"{VOLUMES}/{volume['id']}"
    answer = await pair.client.post(f"{path}/attach", {"compute_id": row["id"]})
    assert answer["compute_id"] == row["id"]
    # Behind it, as behind any other attachment.
    copy = await pair.client.post(f"{path}/clone", {"label": f"copy-{booted:d}"})
    await pair.client.post(f"{path}/resize", {"size": 30})
    await rests(pair, volume["id"])
    await rests(pair, copy["id"])
    assert [await host_of(pair, each["id"]) for each in (volume, copy)] == ["b", "b"]
    state = await engine(pair, "b").inspect(volume["id"])
    assert state is not None
    assert (state.size, state.compute_id) == (30, row["id"] if booted else None)
    assert await engine(pair, MAIN_HOST).inspect(volume["id"]) is None
    told = dict(await volume_events(pair.client, volume["id"]))
    assert (told["volume_migrate"], told["volume_attach"]) == ("finished", "finished")
    if not booted:
        await pair.client.post(f"{INSTANCES}/{row['id']}/boot", {})
        see = partial(engine(pair, "b").inspect, volume["id"])
        await until(see, lambda found: found is not None and found.compute_id == row["id"])
    await sound(pair)


async def test_what_cannot_be_brought_stays_where_it_is(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.05)
    row = await pair.made_on("b", booted=True)
    volume = await volume_on(pair, MAIN_HOST, "stays")
    path = f"{VOLUMES}/{volume['id']}"
    guests = pair.other.services.get(Engines).of(INSTANCE_PLANE, REGION)
    assert isinstance(guests, SimulatedInstances)
    plan = guests.plan
    await plan.fail("volume_unpack", "the disk is full")
    await pair.client.post(f"{path}/attach", {"compute_id": row["id"]})
    await rests(pair, volume["id"])
    await plan.mend("volume_unpack")
    assert await host_of(pair, volume["id"]) == MAIN_HOST
    found = await pair.client.get(path)
    assert (found["compute_id"], found["status"]) == (None, "active")
    told = {
        each["action"]: (each["status"], each["message"])
        for each in await whole_events(pair.client, volume["id"])
    }
    assert told["volume_migrate"] == ("failed", "the disk is full")
    reason = "The volume could not be brought to the host of the Compute."
    assert told["volume_attach"] == ("failed", reason)
    await sound(pair)
    await pair.client.post(f"{path}/attach", {"compute_id": row["id"]})
    await rests(pair, volume["id"])
    assert await host_of(pair, volume["id"]) == "b"


async def test_an_instance_that_is_deleted_meanwhile(pair: Pair) -> None:
    """The volume is whole on one host, attached to nothing, and can be attached again."""
    row, other = await pair.made_on("b", booted=True), await pair.made_on("b", booted=True)
    volume = await volume_on(pair, MAIN_HOST, "outlives")
    path = f"{VOLUMES}/{volume['id']}"
    await pair.client.post(f"{path}/attach", {"compute_id": row["id"]})
    await pair.client.delete(f"{INSTANCES}/{row['id']}")
    see = partial(pair.client.get, path)
    await until(see, lambda found: found["compute_id"] is None)
    await rests(pair, volume["id"])
    await pair.client.post(f"{path}/attach", {"compute_id": other["id"]})
    await rests(pair, volume["id"])
    state = await engine(pair, "b").inspect(volume["id"])
    assert state is not None
    assert state.compute_id == other["id"]
    assert await engine(pair, MAIN_HOST).inspect(volume["id"]) is None
    await sound(pair)


async def test_a_host_that_takes_nothing_is_named(pair: Pair) -> None:
    row = await pair.made_on("b")
    volume = await volume_on(pair, MAIN_HOST, "refused")
    path = f"{VOLUMES}/{volume['id']}"
    store = pair.main.store
    address = await store.fetchval("select address from host where name = 'b'")
    await store.execute("update host set address = null where name = 'b'")
    try:
        answer = await pair.client.send("POST", f"{path}/attach", {"compute_id": row["id"]})
    finally:
        await store.execute("update host set address = $1 where name = 'b'", address)
    assert answer.problems == [(None, ELSEWHERE)]
    assert (await pair.client.get(path))["compute_id"] is None
    config = {"label": "named", "devices": {"sdb": {"volume_id": volume["id"]}}}
    answer = await pair.client.send("POST", f"{INSTANCES}/{row['id']}/configs", config)
    assert answer.problems == [("devices", f"{ELSEWHERE} Attach it to the Compute first.")]
