"""Hosts that die: they are fenced, and another one takes over what they had."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from roost.app import serve
from roost.app.fsck import check_all
from roost.app.health import check_health
from roost.app.host import HostError, join
from roost.app.operator import drains, hosts, takeovers
from roost.app.operator.top import Watch
from roost.app.roost import Roost, open_roost
from roost.core.context import Context
from roost.core.engine import EngineError
from roost.core.hosts import queries
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.lifecycle.move_service import begin_move
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.settings import MAIN_HOST
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.hosts import REGION, Main, main_host, running_host
from tests.support.instances import INSTANCES, settled
from tests.support.nodebalancers import BALANCERS, balancer, told
from tests.support.volumes import VOLUMES


@pytest.fixture(scope="module")
async def cloud(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Main]:
    async with main_host(database_server, tmp_path_factory.mktemp("dead-hosts")) as cloud:
        yield cloud


async def die(cloud: Main, host: str) -> None:
    """Its worker was stopped a while ago."""
    long_ago = "update host set seen = clock_timestamp() - interval '1 hour' where name = $1"
    await cloud.main.store.execute(long_ago, host)


async def gone(cloud: Main, *ids: int) -> None:
    left = "select count(*) from compute_instance where id = any($1)"
    await until(partial(cloud.main.store.fetchval, left, ids), lambda count: count == 0)


async def emptied(cloud: Main, host: str) -> None:
    """Nothing of what was deleted is left on the host."""
    left = "select count(*) from placed where host = $1"
    await until(partial(cloud.main.store.fetchval, left, host), lambda count: count == 0)


async def clear(cloud: Main, host: str, state: Path, compute_id: int) -> None:
    """A host that was fenced comes back, loses its instance, and dies."""
    await hosts.undrain(cloud.main.store, host)
    async with running_host(cloud.main, host, state):
        await cloud.client.delete(f"{INSTANCES}/{compute_id}")
        await gone(cloud, compute_id)
    await die(cloud, host)


async def host_of_volume(cloud: Main, volume_id: int) -> str:
    host: str = await cloud.main.store.fetchval("select host from volume where id = $1", volume_id)
    return host


async def running_guests(roost: Roost) -> set[int]:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, REGION)
    return {guest.id for guest in await engine.list() if guest.power == "running"}


async def test_another_host_takes_over(cloud: Main, tmp_path: Path) -> None:
    """With the disks in its state folder; what was on its way is there, too, and off."""
    store, client = cloud.main.store, cloud.client
    async with running_host(cloud.main, "b", tmp_path / "disks"):
        guest = await cloud.made_on("b", booted=True)
        async with cloud.placing_on("b"):
            volume = await client.post(VOLUMES, {"label": "loose", "region": REGION, "size": 10})
            shared = await balancer(client)
        see = partial(client.get, f"{VOLUMES}/{volume['id']}")
        await until(see, lambda found: found["status"] == "active")
        assert await host_of_volume(cloud, volume["id"]) == "b"
        leaving = await cloud.made_on("b", booted=False)
        await told(client, shared["id"], "nodebalancer_create")
    [listed] = await hosts.list_hosts(store, "b")
    assert (listed.instances, listed.volumes, listed.nodebalancers) == (2, 1, 1)
    disks = sum(row["specs"]["disk"] for row in (guest, leaving))
    assert listed.promised_storage == disks + 10 * 1024
    moving = asyncio.create_task(
        drains.migrate(store, cloud.main.settings, leaving["id"], MAIN_HOST)
    )
    on_its_way = "select target_host from compute_instance where id = $1"
    await until(partial(store.fetchval, on_its_way, leaving["id"]), bool)
    await client.post(f"{INSTANCES}/{guest['id']}/shutdown")
    with pytest.raises(hosts.HostError, match="not fenced"):
        await takeovers.take_over(store, "b", MAIN_HOST)
    await die(cloud, "b")
    given = f"NodeBalancer {shared['id']} goes to host {MAIN_HOST}"
    assert await takeovers.fence(store, "b", None) == [given]
    with pytest.raises(hosts.HostError, match=r"has 2 x instance, 1 x volume$"):
        await hosts.remove(store, "b")
    balancers = cloud.main.services.get(Engines).of(BALANCER_PLANE, REGION)
    await until(partial(balancers.inspect, shared["id"]), lambda found: found is not None)
    assert await takeovers.fence(store, "b", None) == []
    await store.execute(
        """
        insert into maintenance (compute_id, account_id, type, status, reason, "when", host)
        select id, account_id, 'live_migration', 'started', '', '2199-01-01', 'b'
        from compute_instance where id = $1
        """,
        guest["id"],
    )
    former = cloud.main.settings.model_copy(update={"host": "b", "state": tmp_path / "disks"})
    with pytest.raises(HostError, match="fenced"):
        await join(store, former)
    for other, words in (("b", "no worker"), ("attic", "no worker")):
        with pytest.raises(hosts.HostError, match=words):
            await takeovers.take_over(store, "b", other)
    async with running_host(cloud.main, "c", tmp_path / "disks") as taker:
        assert await takeovers.take_over(store, "b", "c") == {
            "instance": 2,
            "volume": 1,
            "NodeBalancer": 0,
            "maintenance": 1,
        }
        there = "select host from maintenance where compute_id = $1"
        assert await store.fetchval(there, guest["id"]) == "c"
        with pytest.raises(drains.DrainError, match="dead"):
            await moving
        for row in (guest, leaving):
            found = await settled(client, row["id"])
            assert found["status"] == "offline"
            assert await cloud.host_of(row["id"]) == "c"
        assert await host_of_volume(cloud, volume["id"]) == "c"
        for row in (guest, leaving):
            await client.post(f"{INSTANCES}/{row['id']}/boot")
            view = partial(client.get, f"{INSTANCES}/{row['id']}")
            await until(view, lambda found: found["status"] == "running")
        assert await running_guests(taker) == {guest["id"], leaving["id"]}
        for roost in (cloud.main, taker):
            lines = list[str]()
            await check_all(roost, False, lines.append)
            assert lines == []
        for row in (guest, leaving):
            await client.delete(f"{INSTANCES}/{row['id']}")
        await client.delete(f"{VOLUMES}/{volume['id']}")
        await client.delete(f"{BALANCERS}/{shared['id']}")
        await emptied(cloud, "c")
        await until(partial(balancers.inspect, shared["id"]), lambda found: found is None)
    await die(cloud, "c")  # Nothing is placed on it any more.


@pytest.mark.parametrize("killed", [False, True])
async def test_what_was_asked_for_behind_a_move_is_done_by_the_other_host(
    cloud: Main, tmp_path: Path, *, killed: bool
) -> None:
    """The move alone ends: nothing stays half-way, and what was deleted does not come back."""
    store, client, name = cloud.main.store, cloud.client, f"m{killed:d}"
    async with running_host(cloud.main, name, tmp_path / "disks"):
        kept, deleted = [
            await cloud.made_on(name, booted=False, backups_enabled=True) for _ in range(2)
        ]
    for row in (kept, deleted):
        async with store.transaction() as db:
            context = Context(
                caller=None, db=db, services=cloud.main.services, clock=cloud.main.clock
            )
            await begin_move(context, row["id"], MAIN_HOST, live=False)
    one = f"{INSTANCES}/{kept['id']}"
    backup = await client.post(f"{one}/backups", {"label": "behind"})
    await client.delete(f"{INSTANCES}/{deleted['id']}")
    if killed:
        await store.execute(
            """
            update job set status = 'running', owner = 'gone', behind = false,
                lease_until = clock_timestamp() - interval '1 hour'
            where kind = 'compute_move' and resource = any($1) and finished is null
            """,
            [f"compute:{row['id']}" for row in (kept, deleted)],
        )
    await die(cloud, name)
    await takeovers.fence(store, name, None)
    async with running_host(cloud.main, f"{name}x", tmp_path / "disks") as taker:
        await takeovers.take_over(store, name, f"{name}x")
        assert (await settled(client, kept["id"]))["status"] == "offline"
        see = partial(client.get, f"{one}/backups/{backup['id']}")
        await until(see, lambda found: found["status"] == "successful")
        await gone(cloud, deleted["id"])
        asked = {"action": "compute_migrate", "entity.id": kept["id"], "entity.type": "compute"}
        [event] = (await client.get("/account/events", filter=asked))["data"]
        assert event["status"] == "failed"
        assert "dead" in event["message"]
        await client.post(f"{one}/boot")
        await until(partial(client.get, one), lambda found: found["status"] == "running")
        for roost in (cloud.main, taker):
            lines = list[str]()
            await check_all(roost, False, lines.append)
            assert lines == []
        await client.delete(one)
        await gone(cloud, kept["id"])
    await die(cloud, f"{name}x")


async def test_nothing_is_taken_over_whose_disks_are_elsewhere(cloud: Main, tmp_path: Path) -> None:
    """What is missing is named, and nothing is changed."""
    store, client = cloud.main.store, cloud.client
    async with running_host(cloud.main, "i", tmp_path / "i"):
        row = await cloud.made_on("i", booted=True, backups_enabled=True)
        one = f"{INSTANCES}/{row['id']}"
        backup = await client.post(f"{one}/backups", {"label": "before"})
        see = partial(client.get, f"{one}/backups/{backup['id']}")
        await until(see, lambda found: found["status"] == "successful")
        async with cloud.placing_on("i"):
            volume = await client.post(VOLUMES, {"label": "far", "region": REGION, "size": 10})
        look = partial(client.get, f"{VOLUMES}/{volume['id']}")
        await until(look, lambda found: found["status"] == "active")
        disks = (await client.get(f"{one}/disks"))["data"]
        await settled(client, row["id"])
    await die(cloud, "i")
    await takeovers.fence(store, "i", None)
    async with running_host(cloud.main, "j", tmp_path / "j"):
        with pytest.raises(hosts.HostError) as refused:
            await takeovers.take_over(store, "i", "j")
        named = [*(f"disk {disk['id']} of instance {row['id']}" for disk in disks)]
        named += [f"backup {backup['id']}", f"volume {volume['id']}"]
        for each in named:
            assert each in str(refused.value)
        assert "--without-disks" in str(refused.value)
        assert await cloud.host_of(row["id"]) == "i"
        assert await host_of_volume(cloud, volume["id"]) == "i"
        assert (await queries.find(store, "i")).state == "fenced"  # type: ignore[union-attr]
        given = await takeovers.take_over(store, "i", "j", without_disks=True)
        assert (given["instance"], given["volume"]) == (1, 1)
        await client.delete(one)
        await client.delete(f"{VOLUMES}/{volume['id']}")
        await gone(cloud, row["id"])
    await die(cloud, "j")


async def test_a_silent_host_is_told_of_everywhere(cloud: Main, tmp_path: Path) -> None:
    """Where an operator looks first, and to those who have instances there; to nobody else."""
    store, settings = cloud.main.store, cloud.main.settings
    async with running_host(cloud.main, "k", tmp_path / "k"):
        row = await cloud.made_on("k", booted=True)
        here = await cloud.made_on(MAIN_HOST)
        [listed] = await hosts.list_hosts(store, "k")
        assert listed.state == "up"
        assert (await check_health(cloud.main))["problems"] == []
    await store.execute(
        "update host set seen = clock_timestamp() - interval '1 minute' where name = 'k'"
    )
    assert not await outages(cloud), "its worker may be started again"
    await die(cloud, "k")
    said = "host k is silent: it has 1 x instance"
    health = await check_health(cloud.main)
    assert (health["status"], health["problems"]) == ("degraded", [said])
    assert said in (await Watch(settings, store).look()).problems
    [listed] = await hosts.list_hosts(store, "k")
    assert (listed.state, listed.alive) == ("silent", False)
    [told] = await outages(cloud)
    assert (told["entity"]["id"], told["type"]) == (row["id"], "outage")
    assert row["label"] in told["message"]
    async with running_host(cloud.main, "k", tmp_path / "k"):
        await until(partial(outages, cloud), lambda rows: not rows)
        assert (await check_health(cloud.main))["problems"] == []
        for each in (row, here):
            await cloud.client.delete(f"{INSTANCES}/{each['id']}")
        await gone(cloud, row["id"], here["id"])
    await die(cloud, "k")


async def outages(cloud: Main) -> list[Json]:
    rows: list[Json] = (await cloud.client.get("/account/notifications"))["data"]
    return [row for row in rows if row["type"] == "outage"]


async def test_a_worker_of_a_fenced_host_ends_its_guests(cloud: Main, tmp_path: Path) -> None:
    settings = cloud.main.settings.model_copy(
        update={
            "host": "d",
            "state": tmp_path,
            "key_file": cloud.main.settings.sealing_key,
        }
    )
    async with open_roost(settings) as roost:
        ready, stop = asyncio.Event(), asyncio.Event()
        working = asyncio.create_task(serve.work(roost, ready.set, stop))
        await ready.wait()
        place = "select name from host where name = 'd' and seen is not null and state = 'up'"
        await until(partial(cloud.main.store.fetchval, place), bool)
        serves = "select host from region_capacity where host = 'd' and region = $1"
        await until(partial(cloud.main.store.fetchval, serves, REGION), bool)
        row = await cloud.made_on("d", booted=True)
        with pytest.raises(hosts.HostError, match="runs"):
            await takeovers.fence(cloud.main.store, "d", None)
        assert await running_guests(roost) == {row["id"]}
        await queries.set_state(cloud.main.store, "d", "fenced")
        with pytest.raises(HostError, match="have been ended"):
            await working
        assert await running_guests(roost) == set()
    await clear(cloud, "d", tmp_path, row["id"])


async def test_what_hangs_keeps_no_guest_of_a_fenced_host(
    cloud: Main, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = asyncio.Event()

    async def deaf(_roost: Roost) -> None:
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()

    monkeypatch.setattr(serve, "listen", deaf)
    monkeypatch.setattr(serve, "_FENCED_SECONDS", 0.1)
    key = cloud.main.settings.sealing_key
    changed = {"host": "g", "state": tmp_path, "key_file": key}
    settings = cloud.main.settings.model_copy(update=changed)
    async with open_roost(settings) as roost:
        working = asyncio.create_task(serve.work(roost, lambda: None, asyncio.Event()))
        try:
            serves = "select host from region_capacity where host = 'g' and region = $1"
            await until(partial(cloud.main.store.fetchval, serves, REGION), bool)
            row = await cloud.made_on("g", booted=True)
            assert await running_guests(roost) == {row["id"]}
            await queries.set_state(cloud.main.store, "g", "fenced")
            await until(partial(running_guests, roost), lambda found: not found)
            assert not working.done()
        finally:
            free.set()
        with pytest.raises(HostError, match="have been ended"):
            await working
    monkeypatch.undo()
    await clear(cloud, "g", tmp_path, row["id"])


async def test_guests_that_cannot_be_ended_are_told(
    cloud: Main, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def fail(_engine: object) -> None:
        asked.set()
        raise EngineError("QEMU does not answer.")

    async def serve_until_fenced() -> None:
        async with running_host(cloud.main, "h", tmp_path):
            monkeypatch.setattr(SimulatedInstances, "shut_down", fail)
            await queries.set_state(cloud.main.store, "h", "fenced")
            await asked.wait()

    with pytest.raises(HostError, match=f"guests in .*{REGION}.* may still run"):
        await serve_until_fenced()


async def test_who_is_not_fenced(cloud: Main, tmp_path: Path) -> None:
    store = cloud.main.store
    await store.execute("insert into host (name) values ('e')")
    program = tmp_path / "power-off"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit(sys.argv[1:] != ['f'])\n")
    program.chmod(0o755)
    for name, by, words in (
        ("main", None, "main host"),
        ("attic", None, "no host"),
        ("e", program, "ended with 1: host e may run"),
        ("e", tmp_path, "does not run"),
    ):
        with pytest.raises(hosts.HostError, match=words):
            await takeovers.fence(store, name, by)
    assert (await queries.find(store, "e")).state == "up"  # type: ignore[union-attr]
    await store.execute("insert into host (name) values ('f')")
    await takeovers.fence(store, "f", program)
    with pytest.raises(hosts.HostError, match="fenced"):
        await hosts.close(store, "f")
    await hosts.undrain(store, "f")
    for name in ("e", "f"):
        await hosts.remove(store, name)
