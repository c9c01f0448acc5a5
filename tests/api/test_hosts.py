"""Two hosts of one region: what is where, whose workers do what, and what has room."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from roost.app.fsck import check_all
from roost.app.host import HostError, join
from roost.app.operator import hosts
from roost.app.roost import Roost
from roost.core.engine import Folder, Host
from roost.core.hosts import queries
from roost.core.planes import Engines
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.jobs import CAPACITY, CapacityArgs
from roost.resources.firewalls.engine import FIREWALL_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.settings import MAIN_HOST
from tests.support.client import Client, Contract, Json, until
from tests.support.database import DatabaseServer
from tests.support.firewalls import rule, rules
from tests.support.hosts import running_host
from tests.support.instances import INSTANCES, OMITTED, create_body, made, settled
from tests.support.server import running_roost, simulated

REGION = "us-lake"
FULL = "The region has no capacity for this plan type"


@dataclass(frozen=True)
class Pair:
    """A cloud of two hosts."""

    main: Roost
    other: Roost
    client: Client

    def roost(self, host: str) -> Roost:
        return self.main if host == MAIN_HOST else self.other

    async def host_of(self, compute_id: int) -> str:
        host: str = await self.main.store.fetchval(
            "select host from compute_instance where id = $1", compute_id
        )
        return host

    async def guests(self, host: str) -> set[int]:
        engine = self.roost(host).services.get(Engines).of(INSTANCE_PLANE, REGION)
        return {guest.id for guest in await engine.list()}

    async def made_on(self, host: str, **changes: object) -> Json:
        """A new instance there, as nothing is placed on the other host meanwhile."""
        [other] = {MAIN_HOST, "b"} - {host}
        await hosts.drain(self.main.store, other)
        try:
            row = await made(self.client, **changes)
        finally:
            await hosts.undrain(self.main.store, other)
        assert await self.host_of(row["id"]) == host
        return row


@pytest.fixture(scope="module")
async def pair(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("hosts")
    async with (
        database_server.database() as url,
        running_roost(simulated(folder / "main", url)) as running,
        running_host(running.roost, "b", folder / "b") as other,
        aiohttp.ClientSession() as session,
    ):
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Pair(
            running.roost, other, Client(session, contract, running.url).as_user(running.token)
        )


async def sound(pair: Pair) -> None:
    for roost in (pair.main, pair.other):
        lines = list[str]()
        await check_all(roost, False, lines.append)
        assert lines == []


async def test_instances_spread_and_each_host_has_its_own(pair: Pair) -> None:
    rows = [await made(pair.client, booted=True) for _ in range(6)]
    places = {row["id"]: await pair.host_of(row["id"]) for row in rows}
    assert Counter(places.values()) == {MAIN_HOST: 3, "b": 3}
    for host in (MAIN_HOST, "b"):
        own = {each for each, place in places.items() if place == host}
        assert own <= await pair.guests(host)
        assert not (set(places) - own) & await pair.guests(host)
    owners = await pair.main.store.fetch(
        """
        select distinct j.host, split_part(j.resource, ':', 2)::bigint as id from job j
        where j.kind = 'compute_create'
        """
    )
    assert {row["id"]: row["host"] for row in owners}.items() >= places.items()
    await sound(pair)
    for row in rows:
        await pair.client.delete(f"{INSTANCES}/{row['id']}")
    await until(
        lambda: pair.client.get(INSTANCES),
        lambda page: not {row["id"] for row in page["data"]} & set(places),
    )
    assert not (await pair.guests("b") | await pair.guests(MAIN_HOST)) & set(places)


async def test_everyday_work_is_done_where_the_guest_is(pair: Pair) -> None:
    row = await pair.made_on("b", booted=True)
    one = f"{INSTANCES}/{row['id']}"
    await pair.client.post(f"{one}/reboot", {})
    await settled(pair.client, row["id"])
    await pair.client.post(f"{one}/shutdown", {})
    assert (await settled(pair.client, row["id"]))["status"] == "offline"
    await pair.client.post(f"{one}/resize", {"type": "g1-standard-1"})
    await until(lambda: pair.client.get(one), lambda found: found["type"] == "g1-standard-1")
    await sound(pair)


async def test_a_guest_that_went_off_is_booted_again_by_its_own_host(pair: Pair) -> None:
    row = await pair.made_on("b", booted=True)
    engine = pair.other.services.get(Engines).of(INSTANCE_PLANE, REGION)
    await engine.stop(row["id"], 0)

    async def again() -> Json:
        found = await pair.client.get("/account/events")
        return found["data"][0]

    await until(again, lambda event: event["action"] == "lassie_reboot")
    await settled(pair.client, row["id"])
    assert row["id"] not in await pair.guests(MAIN_HOST)


async def test_a_volume_is_made_and_attached_where_its_instance_is(pair: Pair) -> None:
    row = await pair.made_on("b", booted=True)
    volume = await pair.client.post(
        "/volumes", {"label": "data", "size": 20, "compute_id": row["id"]}
    )
    path = f"/volumes/{volume['id']}"
    await until(lambda: pair.client.get(path), lambda found: found["status"] == "active")
    engine = pair.other.services.get(Engines).of(VOLUME_PLANE, REGION)
    state = await engine.inspect(volume["id"])
    assert state is not None
    assert state.compute_id == row["id"]
    elsewhere = await pair.made_on(MAIN_HOST)
    await pair.client.post(f"{path}/detach", {})
    await until(lambda: pair.client.get(path), lambda found: found["compute_id"] is None)
    answer = await pair.client.send("POST", f"{path}/attach", {"compute_id": elsewhere["id"]})
    assert answer.problems == [(None, "Volume and Compute are on different hosts of the region.")]
    await sound(pair)


async def test_a_firewall_is_in_force_on_all_hosts_when_its_event_says_so(pair: Pair) -> None:
    rows = [await pair.made_on(host, booted=True) for host in (MAIN_HOST, "b")]
    body = {
        "label": "walls",
        "rules": rules(rule()),
        "devices": {"computes": [row["id"] for row in rows]},
    }
    firewall = await pair.client.post("/networking/firewalls", body)
    await until(
        lambda: pair.client.get("/account/events"),
        lambda page: any(
            each["action"] == "firewall_create" and each["status"] == "finished"
            for each in page["data"]
        ),
    )
    for row, host in zip(rows, (MAIN_HOST, "b"), strict=True):
        engine = pair.roost(host).services.get(Engines).of(FIREWALL_PLANE, REGION)
        state = await engine.inspect(firewall["id"])
        assert state is not None
        assert {str(each) for each in state.addresses} >= {row["ipv4"][0]}
    await sound(pair)


async def _small() -> Host:
    """With 2 GB of memory, of which the half more may be promised, and 100 GB of storage."""
    return Host((Folder("/srv", 10240 << 20, 102400 << 20),), 2048 << 20, 2048 << 20, 2)


async def _measure(pair: Pair) -> None:
    for roost in (pair.main, pair.other):
        queue, name = roost.queue, roost.settings.host
        job = await queue.enqueue(roost.store, CAPACITY, CapacityArgs(), host=name)
        status = partial(roost.store.fetchval, "select status from job where id = $1", job.id)
        await until(status, lambda found: found == "done")


async def test_hosts_that_are_full_refuse_and_none_is_promised_too_much(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many ask at once for what has room three times on each."""
    for roost in (pair.main, pair.other):
        engine = roost.services.get(Engines).of(INSTANCE_PLANE, "local")
        monkeypatch.setattr(engine, "host", _small)
    await _measure(pair)
    tiny = create_body(region="local", image=OMITTED, root_pass=OMITTED, booted=OMITTED)
    answers = await asyncio.gather(*(pair.client.send("POST", INSTANCES, tiny) for _ in range(9)))
    refused = [answer for answer in answers if answer.status != 200]
    assert [answer.problems for answer in refused] == 3 * [[("region", FULL)]]
    made_ones = [answer.body["id"] for answer in answers if answer.status == 200]
    places = Counter([await pair.host_of(each) for each in made_ones])
    assert places == {MAIN_HOST: 3, "b": 3}
    answer = await pair.client.send(
        "POST", f"{INSTANCES}/{made_ones[0]}/resize", {"type": "g1-standard-1"}
    )
    assert answer.problems == [("type", FULL)]
    for each in made_ones:
        await settled(pair.client, each)
        await pair.client.delete(f"{INSTANCES}/{each}")


async def test_two_machines_cannot_be_the_same_host(pair: Pair, tmp_path: Path) -> None:
    settings = pair.other.settings.model_copy(update={"state": tmp_path})
    with pytest.raises(HostError, match="another machine"):
        await join(pair.main.store, settings)
    await queries.set_state(pair.main.store, "b", "fenced")
    try:
        with pytest.raises(HostError, match="fenced"):
            await join(pair.main.store, pair.other.settings)
    finally:
        await queries.set_state(pair.main.store, "b", "up")


async def test_a_host_is_forgotten_when_nothing_is_left(pair: Pair) -> None:
    store = pair.main.store
    await store.execute("insert into host (name) values ('gone')")
    await hosts.remove(store, "gone")
    assert await queries.find(store, "gone") is None
    for name, words in (("main", "stays"), ("b", "runs"), ("c", "no host")):
        with pytest.raises(hosts.HostError, match=words):
            await hosts.remove(store, name)
