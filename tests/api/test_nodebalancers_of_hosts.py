"""NodeBalancers of a region with several hosts: each is on one, its nodes anywhere."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import IPv4Address

import pytest

from roost.app.operator import drains, hosts, takeovers
from roost.core.context import Context
from roost.core.fsck import Installation
from roost.core.planes import Engines
from roost.engines.simulated.nodebalancers import SimulatedBalancers
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.overlay_engine import RemoteAddress
from roost.resources.firewalls.engine import FIREWALL_PLANE
from roost.resources.nodebalancers import host_queries
from roost.resources.nodebalancers.apply_service import put_in_force
from roost.resources.nodebalancers.engine import BALANCER_PLANE, BalancerTraffic
from roost.resources.nodebalancers.fsck import reconcilers
from roost.resources.nodebalancers.locks import resource_of
from roost.resources.nodebalancers.move_jobs import CLEAR, LeftArgs
from roost.resources.nodebalancers.move_service import Started, begin_move
from roost.resources.nodebalancers.usage_service import note
from roost.settings import MAIN_HOST
from roost.store import Connection
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.firewalls import guarded
from tests.support.hosts import REGION, Pair, sound, two_hosts
from tests.support.instances import INSTANCES
from tests.support.nodebalancers import BALANCERS, balancer, told
from tests.support.volumes import failing


@pytest.fixture(scope="module")
async def pair(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    async with two_hosts(database_server, tmp_path_factory.mktemp("balanced")) as pair:
        yield pair


async def _node_on(pair: Pair, host: str) -> tuple[Json, str]:
    """An instance there, and its private address as a node has it."""
    row = await pair.made_on(host, private_ip=True, booted=False)
    held = await pair.client.get(f"{INSTANCES}/{row['id']}/ips")
    return row, f"{held['ipv4']['private'][0]['address']}:80"


async def _balancer_on(pair: Pair, host: str, **changes: object) -> Json:
    """A new one there, which serves."""
    async with pair.placing_on(host):
        made = await balancer(pair.client, **changes)
    await told(pair.client, made["id"], "nodebalancer_create")
    assert made["id"] in await _served(pair, host)
    return made


def _engine(pair: Pair, host: str) -> SimulatedBalancers:
    found = pair.roost(host).services.get(Engines).of(BALANCER_PLANE, REGION)
    assert isinstance(found, SimulatedBalancers)
    return found


async def _served(pair: Pair, host: str) -> set[int]:
    return {each.id for each in await _engine(pair, host).list()}


async def _drained(pair: Pair, host: str) -> list[str]:
    """What is said while the host is."""
    said = list[str]()
    try:
        await drains.drain(pair.main.store, pair.main.settings, host, 2, said.append)
    finally:
        await hosts.undrain(pair.main.store, host)
    return said


async def _filtered(pair: Pair, host: str) -> set[str]:
    engine = pair.roost(host).services.get(Engines).of(FIREWALL_PLANE, REGION)
    return {address for each in await engine.list() for address in each.addresses}


async def test_a_node_of_another_host_goes_with_its_instance(pair: Pair) -> None:
    """Nothing is sent to its address when that is another's; what is left serves on."""
    gone, first = await _node_on(pair, "b")
    _, second = await _node_on(pair, "main")
    nodes = [{"label": "one", "address": first}, {"label": "two", "address": second}]
    made = await _balancer_on(pair, MAIN_HOST, configs=[{"port": 80, "nodes": nodes}])
    await told(pair.client, made["id"], "nodebalancer_create")
    path = f"{INSTANCES}/{gone['id']}"
    await pair.client.delete(path)
    await until(lambda: pair.client.send("GET", path), lambda answer: answer.status == 404)
    await told(pair.client, made["id"], "nodebalancer_node_delete")
    configs = f"{BALANCERS}/{made['id']}/configs"
    (config,) = (await pair.client.get(configs))["data"]
    rows = (await pair.client.get(f"{configs}/{config['id']}/nodes"))["data"]
    assert [each["label"] for each in rows] == ["two"]
    held = pair.main.services.get(Engines).of(BALANCER_PLANE, REGION)
    assert set(await held.statuses()) == {rows[0]["id"]}
    await sound(pair)


async def test_other_hosts_know_the_way_to_it(pair: Pair) -> None:
    """Their nodes answer to its address, and their guests ask there."""
    made = await _balancer_on(pair, MAIN_HOST)
    engine = pair.other.services.get(Engines).of(INSTANCE_PLANE, REGION)
    wanted = RemoteAddress(IPv4Address("127.0.0.1"), IPv4Address(made["ipv4"]))

    async def known() -> bool:
        overlay = await engine.overlay.get()
        return overlay is not None and wanted in overlay.region

    assert await until(known, bool)
    await pair.client.delete(f"{BALANCERS}/{made['id']}")
    assert not await until(known, lambda found: not found)


async def test_a_drained_host_gives_it_to_another_one(pair: Pair) -> None:
    """With its configs, behind its firewall; what it has moved until then is counted."""
    firewall = await guarded(pair.client, label="before-it")
    made = await _balancer_on(
        pair, "b", firewall_id=firewall["id"], configs=[{"port": 80, "label": "web"}]
    )
    await until(partial(_filtered, pair, "b"), lambda found: made["ipv4"] in found)
    state = await _engine(pair, "b").inspect(made["id"])
    await _engine(pair, "b").use(made["id"], connections=6, received=3_000_000, sent=9_000_000)
    assert f"NodeBalancer {made['id']} is on host main" in " ".join(await _drained(pair, "b"))
    assert await _engine(pair, MAIN_HOST).inspect(made["id"]) == state
    await until(partial(_served, pair, "b"), lambda found: made["id"] not in found)
    assert made["ipv4"] in await _filtered(pair, MAIN_HOST)
    await until(partial(_filtered, pair, "b"), lambda found: made["ipv4"] not in found)
    view = partial(pair.client.get, f"{BALANCERS}/{made['id']}")
    counted = await until(view, lambda found: found["transfer"]["total"])
    assert counted["transfer"] == {"in": 3.0, "out": 9.0, "total": 12.0}
    # Somebody has asked the former host's engine before it was dropped, and writes it down now.
    late = {made["id"]: BalancerTraffic("simulated", 6, 3_000_000, 9_000_000)}
    await note(pair.other.store, "b", late, pair.other.clock.now())
    assert (await view())["transfer"] == counted["transfer"]
    (event,) = [
        each
        for each in (await pair.client.get("/account/events?page_size=500"))["data"]
        if (each["action"], (each["entity"] or {}).get("id")) == ("nodebalancer_update", made["id"])
    ]
    assert event["status"] == "finished"
    await sound(pair)
    await pair.client.delete(f"{BALANCERS}/{made['id']}")
    await until(partial(_served, pair, MAIN_HOST), lambda found: made["id"] not in found)


async def test_it_stays_where_the_other_host_cannot_serve_it(pair: Pair) -> None:
    made = await _balancer_on(pair, "b")
    async with failing(pair.main, "nodebalancer_apply", "HAProxy refuses"):
        said = " ".join(await _drained(pair, "b"))
    assert f"NodeBalancer {made['id']} stays where it is: HAProxy refuses" in said
    assert made["id"] in await _served(pair, "b")
    assert made["id"] not in await _served(pair, MAIN_HOST)
    await sound(pair)
    path = f"{BALANCERS}/{made['id']}/configs"
    await pair.client.post(path, {"port": 81})
    await told(pair.client, made["id"], "nodebalancer_config_create")
    await sound(pair)
    await pair.client.delete(f"{BALANCERS}/{made['id']}")
    await until(partial(_served, pair, "b"), lambda found: made["id"] not in found)


async def test_its_address_is_nobodys_before_the_former_host_has_dropped_it(pair: Pair) -> None:
    made = await _balancer_on(pair, "b")
    held = "select account_id from ip_address where address = $1::text::inet"
    async with failing(pair.other, "nodebalancer_remove", "HAProxy does not end"):
        await _drained(pair, "b")
        await pair.client.delete(f"{BALANCERS}/{made['id']}")
        waiting = "select status from job where kind = 'nodebalancer_delete' order by id desc"
        await until(partial(pair.main.store.fetchval, waiting), lambda found: found == "waiting")
        assert await pair.main.store.fetchval(held, made["ipv4"]) is not None
    await until(partial(pair.main.store.fetchval, held, made["ipv4"]), lambda found: found is None)
    assert made["id"] not in await _served(pair, "b")
    await sound(pair)


async def test_the_former_host_serves_until_it_is_told_to_drop_it(pair: Pair) -> None:
    """What is brought to it meanwhile takes nothing away."""
    made = await _balancer_on(pair, "b")
    async with pair.other.store.transaction() as db:
        await host_queries.begin_move(db, made["id"], MAIN_HOST)
        await put_in_force(db, pair.other.services, made["id"])
        assert made["id"] in await _served(pair, "b")
        await host_queries.stay(db, made["id"])
    await pair.client.delete(f"{BALANCERS}/{made['id']}")
    await until(partial(_served, pair, "b"), lambda found: made["id"] not in found)


@pytest.mark.parametrize("served", [True, False])
async def test_the_watch_ends_what_no_job_drops(pair: Pair, served: bool) -> None:
    """Also where nothing of it is left but the row that says so, for which its deletion waits."""
    made = await _balancer_on(pair, "b")
    if not served:
        await _engine(pair, "b").remove(made["id"])
    await host_queries.begin_move(pair.main.store, made["id"], MAIN_HOST)
    await pair.client.delete(f"{BALANCERS}/{made['id']}")
    row = "select id from nodebalancer where id = $1"

    async def there() -> int | None:
        watch = reconcilers(Installation(pair.other.store, pair.other.services))[REGION]
        async for _, fault in watch.mend_each():
            assert fault is None
        found: int | None = await pair.main.store.fetchval(row, made["id"])
        return found

    await until(there, lambda found: found is None)
    for host in ("b", MAIN_HOST):
        await until(partial(_served, pair, host), lambda found: made["id"] not in found)
    await sound(pair)


@asynccontextmanager
async def _third(pair: Pair) -> AsyncIterator[Callable[[], Awaitable[list[str]]]]:
    """A host `c` without a worker, that may have NodeBalancers until it is given up."""
    store = pair.main.store
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

    async def give_up() -> list[str]:
        await store.execute("update host set seen = '-infinity' where name = 'c'")
        return await takeovers.fence(store, "c", None)

    try:
        yield give_up
    finally:
        for table in ("job", "region_capacity"):
            await store.execute(f"delete from {table} where host = 'c'")
        await store.execute("delete from host where name = 'c'")


async def _begun(pair: Pair, nodebalancer_id: int, host: str) -> Started:
    async def begin(db: Connection) -> Started:
        context = Context(caller=None, db=db, services=pair.main.services, clock=pair.main.clock)
        return await begin_move(context, nodebalancer_id)

    async with pair.placing_on(host):
        started = await pair.main.store.commit(begin)
    assert started.host == host
    return started


async def _end(pair: Pair, made: Json) -> None:
    """Deleted, and forgotten: nobody waits for a host that is dead."""
    await pair.client.delete(f"{BALANCERS}/{made['id']}")
    row = "select count(*) from nodebalancer where id = $1"
    await until(partial(pair.main.store.fetchval, row, made["id"]), lambda found: found == 0)
    for host in ("b", MAIN_HOST):
        assert made["id"] not in await _served(pair, host)


@pytest.mark.parametrize("killed", [False, True])
async def test_it_stays_where_the_host_dies_to_which_it_was_to_go(
    pair: Pair, *, killed: bool
) -> None:
    """Also where that had begun to bring it."""
    made, store = await _balancer_on(pair, "b"), pair.main.store
    async with _third(pair) as give_up:
        started = await _begun(pair, made["id"], "c")
        if killed:
            await _killed(pair, started.job_id)
        said = await give_up()
        assert said == ([f"NodeBalancer {made['id']} goes to host b"] if killed else [])
        how = "select status, error from job where id = $1 and finished is not null"
        [job] = await until(partial(store.fetch, how, started.job_id), bool)
        assert (job["status"], job["error"]) == ("cancelled", "The host c is dead.")
        assert made["id"] in await host_queries.movable(store, "b")
        await idle(pair, made["id"])
        assert made["id"] in await _served(pair, "b")
    await sound(pair)
    await _end(pair, made)


async def _killed(pair: Pair, job_id: int) -> None:
    """Somebody was at the job, and is no more."""
    await pair.main.store.execute(
        """
        update job set status = 'running', owner = 'gone',
            lease_until = clock_timestamp() - interval '1 hour' where id = $1
        """,
        job_id,
    )


async def idle(pair: Pair, nodebalancer_id: int) -> None:
    """No job of it is left."""
    left = "select count(*) from job where resource = $1 and finished is null"
    resource = resource_of(nodebalancer_id)
    await until(partial(pair.main.store.fetchval, left, resource), lambda found: found == 0)


async def test_what_a_dead_host_has_goes_to_another_one(pair: Pair) -> None:
    """With what was to be done with it: one is served, one deleted."""
    store = pair.main.store
    made, deleted = [await _balancer_on(pair, MAIN_HOST) for _ in range(2)]
    async with _third(pair) as give_up:
        for each in (made, deleted):
            await host_queries.put(store, each["id"], "c")
            await _engine(pair, MAIN_HOST).remove(each["id"])
        await pair.client.post(f"{BALANCERS}/{made['id']}/configs", {"port": 81})
        await pair.client.delete(f"{BALANCERS}/{deleted['id']}")
        for host in ("b", MAIN_HOST):
            await hosts.close(store, host)
        try:
            assert await give_up() == [
                f"NodeBalancer {each['id']} stays: no other host can have it"
                for each in (made, deleted)
            ]
        finally:
            for host in ("b", MAIN_HOST):
                await hosts.undrain(store, host)
        assert await give_up() == [
            f"NodeBalancer {each['id']} goes to host main" for each in (made, deleted)
        ]
        await told(pair.client, made["id"], "nodebalancer_config_create")
        await idle(pair, made["id"])
        assert made["id"] in await _served(pair, MAIN_HOST)
        gone = "select count(*) from nodebalancer where id = $1"
        await until(partial(store.fetchval, gone, deleted["id"]), lambda found: found == 0)
        assert await give_up() == []
    await sound(pair)
    await _end(pair, made)


async def test_what_a_dead_host_was_to_drop_is_not_waited_for(pair: Pair) -> None:
    """Neither is it dropped by whoever does what the dead host was to do, and serves it."""
    store = pair.main.store
    made = await _balancer_on(pair, MAIN_HOST)
    args = LeftArgs(nodebalancer_id=made["id"], region=REGION, host="c")
    async with _third(pair) as give_up:
        for own, killed in ((MAIN_HOST, False), ("c", False), ("c", True)):
            leaving = "update nodebalancer set left_host = 'c' where id = $1 returning left_host"
            assert await store.fetchval(leaving, made["id"]) == "c"
            job = await pair.main.queue.enqueue(store, CLEAR, args, host=own)
            if killed:
                await _killed(pair, job.id)
            if own == "c":
                assert await give_up() == []
            ended = "select status from job where id = $1 and finished is not null"
            end = await until(partial(store.fetchval, ended, job.id), bool)
            assert end == ("cancelled" if own == "c" else "done")
            assert made["id"] in await _served(pair, MAIN_HOST)
            left = "select left_host from nodebalancer where id = $1"
            assert await store.fetchval(left, made["id"]) is None
    await sound(pair)
    await _end(pair, made)
