"""Two hosts of one region: what is where, whose workers do what, and what has room."""

import asyncio
import operator
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from roost.app.host import HostError, join
from roost.app.operator import drains, hosts, takeovers
from roost.app.operator.jobs import cancel
from roost.clock import Clock
from roost.core.engine import EngineError, Folder, FullError, Host
from roost.core.hosts import queries
from roost.core.hosts.identity import Identity
from roost.core.hosts.links import Links, Parcel
from roost.core.instance_queries import hosts_of_account
from roost.core.neighbours import Neighbours
from roost.core.planes import Engines
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.jobs.kinds import JobArgs
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.jobs import CAPACITY, CapacityArgs
from roost.resources.compute.lifecycle.live_jobs import MOVE_LIVE, UNFIT
from roost.resources.firewalls.engine import FIREWALL_PLANE
from roost.resources.maintenance import service as maintenance
from roost.resources.maintenance.jobs import DUE
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.settings import MAIN_HOST
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.firewalls import rule, rules
from tests.support.hosts import REGION, Pair, sound, two_hosts
from tests.support.instances import INSTANCES, OMITTED, create_body, made, settled
from tests.support.stage import Stage

PAST = datetime(2026, 1, 1)
FULL = "The region has no capacity for this plan type"


@pytest.fixture(scope="module")
async def pair(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    async with two_hosts(database_server, tmp_path_factory.mktemp("hosts")) as pair:
        yield pair


async def cleared(pair: Pair) -> None:
    """What tests before have left takes room of the hosts, of the one more than of the other."""
    for row in (await pair.client.get(INSTANCES))["data"]:
        await pair.client.delete(f"{INSTANCES}/{row['id']}")
    await until(lambda: pair.client.get(INSTANCES), lambda page: page["results"] == 0)


def test_a_host_names_what_it_serves_at_its_start(pair: Pair) -> None:
    """Not what the main host alone serves, which would seem to be simulated."""
    planes = (INSTANCE_PLANE, FIREWALL_PLANE, VOLUME_PLANE, BALANCER_PLANE)
    own = {plane.name for plane in planes}
    assert {each.plane for each in pair.other.table} == own
    assert {each.plane for each in pair.main.table} > own


async def test_instances_spread_and_each_host_has_its_own(pair: Pair) -> None:
    await cleared(pair)
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
    await sound(pair)


async def test_a_volume_for_nobody_is_made_where_most_instances_of_its_account_are(
    pair: Pair,
) -> None:
    """So that it can be attached, whichever host has most room just now."""
    held = await hosts_of_account(pair.main.store, await _account(pair), REGION)
    host = min((MAIN_HOST, "b"), key=lambda each: held.get(each, 0))
    for _ in range(abs(held.get(MAIN_HOST, 0) - held.get("b", 0)) + 1):
        row = await pair.made_on(host)
    volume = await pair.client.post("/volumes", {"label": "near", "size": 20, "region": REGION})
    path = f"/volumes/{volume['id']}"
    await until(lambda: pair.client.get(path), lambda found: found["status"] == "active")
    await pair.client.post(f"{path}/attach", {"compute_id": row["id"]})
    await until(lambda: pair.client.get(path), lambda found: found["compute_id"] == row["id"])
    await sound(pair)


async def _account(pair: Pair) -> int:
    account: int = await pair.main.store.fetchval("select min(id) from account")
    return account


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


@pytest.mark.parametrize("live", [True, False])
async def test_an_instance_goes_to_the_other_host_and_back_with_all_that_it_has(
    live: bool, pair: Pair
) -> None:
    row = await pair.made_on("b", booted=True, backups_enabled=True)
    one = f"{INSTANCES}/{row['id']}"
    volume = await pair.client.post(
        "/volumes", {"label": f"kept-{live}", "size": 20, "compute_id": row["id"]}
    )
    path = f"/volumes/{volume['id']}"
    await until(lambda: pair.client.get(path), lambda found: found["status"] == "active")
    there = pair.other.services.get(Engines).of(VOLUME_PLANE, REGION)
    assert isinstance(there, SimulatedVolumes)
    await there.write(volume["id"], "of the guest")
    backup = await pair.client.post(f"{one}/backups", {"label": "before"})
    await until(
        lambda: pair.client.get(f"{one}/backups/{backup['id']}"),
        lambda found: found["status"] == "successful",
    )
    settings = pair.main.settings
    for host, former in ((MAIN_HOST, "b"), ("b", MAIN_HOST), (MAIN_HOST, "b")):
        await pair.gone(row["id"], host)
        booted = await started(pair, former, row["id"])
        said = await drains.migrate(pair.main.store, settings, row["id"], host, live=live)
        assert said == f"instance {row['id']} is on host {host}"
        assert (await settled(pair.client, row["id"]))["ipv4"] == row["ipv4"]
        await until(lambda: pair.client.get(one), lambda found: found["status"] == "running")
        await pair.gone(row["id"], former)
        assert (await started(pair, host, row["id"]) == booted) is live
        assert row["id"] not in await pair.guests(former)
        engine = pair.roost(host).services.get(Engines)
        state = await engine.of(VOLUME_PLANE, REGION).inspect(volume["id"])
        assert state is not None
        assert state.compute_id == row["id"]
        held = await engine.of(INSTANCE_PLANE, REGION).backups.list()
        assert backup["id"] in {each.id for each in held}
        await sound(pair)
    wanted = {"entity.type": "compute", "entity.id": row["id"]}
    events = (await pair.client.get("/account/events", filter=wanted))["data"]
    found = Counter((each["action"], each["status"]) for each in events)
    assert found["compute_migrate", "finished"] == 3
    assert found["compute_boot", "finished"] == (1 if live else 4)
    for host in (MAIN_HOST, "c"):
        with pytest.raises(drains.DrainError):
            await drains.migrate(pair.main.store, settings, row["id"], host)


async def started(pair: Pair, host: str, compute_id: int) -> str:
    """Which start of its guest runs there."""
    counted = await pair.roost(host).services.get(Engines).of(INSTANCE_PLANE, REGION).counters()
    return counted[compute_id].run


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.usefixtures("quick_retries")
async def test_an_instance_stays_where_the_other_host_does_not_take_it(
    live: bool, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left of it there, and it can go when that host is well again."""
    row = await pair.made_on("b", booted=True)
    engine = pair.main.services.get(Engines).of(INSTANCE_PLANE, REGION)
    monkeypatch.setattr(engine.live if live else engine, "receive" if live else "unpack", _refuse)
    with pytest.raises(drains.DrainError, match="no room"):
        await drains.migrate(pair.main.store, pair.main.settings, row["id"], MAIN_HOST, live=live)
    found = await settled(pair.client, row["id"])
    assert (found["status"], await pair.host_of(row["id"])) == ("running", "b")
    await pair.gone(row["id"], MAIN_HOST)
    await sound(pair)
    monkeypatch.undo()
    await drains.migrate(pair.main.store, pair.main.settings, row["id"], MAIN_HOST)
    assert await pair.host_of(row["id"]) == MAIN_HOST


async def test_one_that_cannot_go_while_it_runs_is_powered_off(pair: Pair) -> None:
    """Its events say why."""
    row = await pair.made_on("b", booted=True)
    one = f"{INSTANCES}/{row['id']}"
    config = (await pair.client.get(f"{one}/configs"))["data"][0]
    devices = {"sda": config["devices"]["sda"]}
    await pair.client.put(f"{one}/configs/{config['id']}", {"devices": devices})
    await drains.migrate(pair.main.store, pair.main.settings, row["id"], MAIN_HOST)
    await until(lambda: pair.client.get(one), lambda found: found["status"] == "running")
    assert await pair.host_of(row["id"]) == MAIN_HOST
    await pair.gone(row["id"], "b")
    await sound(pair)
    wanted = {"entity.type": "compute", "entity.id": row["id"], "action": "compute_migrate"}
    found = (await pair.client.get("/account/events", filter=wanted))["data"]
    assert [(each["status"], each["message"]) for each in reversed(found)] == [
        ("failed", f"{UNFIT}: it has disks that its configuration does not use."),
        ("finished", ""),
    ]


@pytest.mark.parametrize("fenced", [False, True], ids=["canceled", "fenced"])
async def test_a_host_that_dies_while_a_guest_is_to_come(pair: Pair, fenced: bool) -> None:
    """The guest runs on; whoever cancels the move, or fences the host, has it where it was."""
    row = await pair.made_on("b", booted=True)
    start, store = await started(pair, "b", row["id"]), pair.main.store
    await store.execute(
        "insert into host (name, address, seen) values ('c', '127.0.0.1:9', clock_timestamp())"
    )
    await store.execute(
        """
        insert into region_capacity (region, host, memory, storage, free, cpus, measured)
        values ($1, 'c', null, null, null, null, now())
        """,
        REGION,
    )
    moving = asyncio.create_task(drains.migrate(store, pair.main.settings, row["id"], "c"))
    waits = "select id from job where kind = $1 and host = 'c' and status = 'waiting'"
    job_id = await until(partial(store.fetchval, waits, MOVE_LIVE.name), bool)
    assert (await pair.client.get(f"{INSTANCES}/{row['id']}"))["status"] == "migrating"
    if fenced:
        await store.execute("update host set seen = '-infinity' where name = 'c'")
        await takeovers.fence(store, "c", None)
    else:
        assert await cancel(store, Clock(), job_id) == f"job {job_id} is being stopped and undone"
    with pytest.raises(drains.DrainError, match="stays where it is"):
        await moving
    found = await settled(pair.client, row["id"])
    assert (found["status"], await pair.host_of(row["id"])) == ("running", "b")
    assert await started(pair, "b", row["id"]) == start
    for table in ("job", "region_capacity"):
        await store.execute(f"delete from {table} where host = 'c'")
    await store.execute("delete from host where name = 'c'")
    await sound(pair)


@pytest.mark.parametrize("live", [True, False])
async def test_one_that_is_deleted_on_its_way_leaves_nothing(
    live: bool, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither on the host that it came from, nor where most of it is already."""
    row = await pair.made_on("b", booted=True)
    path = f"{INSTANCES}/{row['id']}"
    volume = await pair.client.post(
        "/volumes", {"label": f"left-{live}", "size": 20, "compute_id": row["id"]}
    )
    there = pair.main.services.get(Engines)
    volumes = there.of(VOLUME_PLANE, REGION)
    await settled(pair.client, row["id"])
    await until(
        lambda: pair.client.get(f"/volumes/{volume['id']}"),
        lambda found: found["status"] == "active",
    )
    here = pair.other.services.get(Engines).of(INSTANCE_PLANE, REGION)
    sent = asyncio.Event()

    async def hang(*_args: object) -> None:
        sent.set()
        await asyncio.Event().wait()

    if live:
        monkeypatch.setattr(here.live, "send", hang)
    else:
        monkeypatch.setattr(Neighbours, "convey", hang)
    move = drains.migrate(pair.main.store, pair.main.settings, row["id"], MAIN_HOST, live=live)
    moving = asyncio.create_task(move)
    await sent.wait()
    spec = await Stage(pair.main).spec(row["id"])
    assert (await volumes.inspect(volume["id"]) is not None) is live
    await pair.client.delete(path)
    with pytest.raises(drains.DrainError, match="was deleted"):
        await moving
    await until(lambda: pair.client.send("GET", path), lambda answer: answer.status == 404)
    await pair.gone(row["id"], MAIN_HOST)
    for host in (MAIN_HOST, "b"):
        assert row["id"] not in await pair.guests(host)
    with pytest.raises(EngineError, match="not arrived"):
        await there.of(INSTANCE_PLANE, REGION).live.enter(spec)
    assert await volumes.inspect(volume["id"]) is None
    assert (await pair.client.get(f"/volumes/{volume['id']}"))["compute_id"] is None
    monkeypatch.undo()
    await sound(pair)
    await pair.client.delete(f"/volumes/{volume['id']}")


async def test_a_live_migration_as_maintenance(pair: Pair) -> None:
    """It is over when the guest is on the other host; where none can have it, it is canceled."""
    row = await pair.made_on("b", booted=True)
    for host, status in ((MAIN_HOST, "completed"), (MAIN_HOST, "canceled")):
        start = await started(pair, await pair.host_of(row["id"]), row["id"])
        if status == "canceled":
            await hosts.close(pair.main.store, "b")
        async with pair.main.store.transaction() as db:
            planned = await maintenance.schedule(db, row["id"], "live_migration", PAST, "a fan")
        await until(partial(_begun, pair, planned), partial(operator.eq, status))
        assert await pair.host_of(row["id"]) == host
        assert await started(pair, host, row["id"]) == start
        await hosts.undrain(pair.main.store, "b")
    await sound(pair)


async def _begun(pair: Pair, maintenance_id: int) -> str:
    """Its status after another minute."""
    await pair.main.queue.enqueue(pair.main.store, DUE, JobArgs())
    status = "select status from maintenance where id = $1"
    found: str = await pair.main.store.fetchval(status, maintenance_id)
    return found


async def _refuse(*_args: object) -> None:
    raise FullError("The host has no room.")


async def test_nobody_gives_a_host_what_it_does_not_expect(pair: Pair) -> None:
    row = await pair.made_on("b", booted=True)
    target = await queries.find(pair.main.store, "b")
    assert target is not None
    assert target.address is not None
    parcel = Parcel(plane="instances", region=REGION, id=row["id"], compute_id=row["id"])
    links = pair.main.services.get(Links)
    with pytest.raises(EngineError, match="does not expect"):
        await links.send(target.address, parcel, _nothing())
    stranger = Links(Identity(_written(pair.main.settings.state / "other.key")))
    with pytest.raises(EngineError, match=r"broke off|does not answer"):
        await stranger.send(target.address, parcel, _nothing())


async def _nothing() -> AsyncGenerator[bytes, None]:
    yield b"{}"


def _written(path: Path) -> Path:
    path.write_bytes(b"another key")
    return path


async def test_a_host_with_twenty_guests_is_drained(pair: Pair) -> None:
    rows = [await pair.made_on("b", booted=each % 2 == 0) for each in range(20)]
    said = list[str]()
    left = await drains.drain(pair.main.store, pair.main.settings, "b", 4, said.append)
    try:
        assert (left, said[-1].split(":")[0]) == (0, f"{len(said)} of {len(said)}")
        assert {await pair.host_of(row["id"]) for row in rows} == {MAIN_HOST}
        for number, row in enumerate(rows):
            found = await until(
                partial(pair.client.get, f"{INSTANCES}/{row['id']}"),
                lambda found: found["status"] in ("running", "offline"),
            )
            if number % 2 == 0:
                await until(
                    partial(pair.client.get, f"{INSTANCES}/{row['id']}"),
                    lambda found: found["status"] == "running",
                )
            else:
                assert found["status"] == "offline"
            await pair.gone(row["id"], "b")
        assert await pair.guests("b") == set()
        await sound(pair)
    finally:
        await hosts.undrain(pair.main.store, "b")


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
