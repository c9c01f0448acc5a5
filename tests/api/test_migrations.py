"""An instance goes to another region, with all that is its own."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.plane import Operation
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.firewalls.engine import FIREWALL_PLANE
from roost.resources.maintenance import service as maintenance
from tests.support.client import Client, Json, until
from tests.support.disks import engine_of, events, path_of, powered, quiet, running
from tests.support.instances import made
from tests.support.volumes import VOLUMES, attached, made_volume, paused, plugged, volume_engine

pytestmark = pytest.mark.spec("B compute region", "A volumes delete migrating")

ELSEWHERE = "br-south"
GO = {"region": ELSEWHERE}
Tie = Callable[[Client, Json], Awaitable[None]]


def plane(roost: Roost, region: str = ELSEWHERE) -> SimulatedInstances:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, region)
    assert isinstance(engine, SimulatedInstances)
    return engine


def id_of(path: str) -> int:
    return int(path.rpartition("/")[2])


async def test_all_that_is_its_own_goes_with_it(client: Client, roost: Roost) -> None:
    path = await running(client, backups_enabled=True, private_ip=True, tags=["blue"])
    compute_id, before = id_of(path), await client.get(path)
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    await engine_of(roost).disks.write(compute_id, root["id"], "written here")
    backup = await client.post(f"{path}/backups", {"label": "before"})
    await quiet(client, path)
    volume = await made_volume(client)
    await attached(client, volume["id"], compute_id)
    await volume_engine(roost).write(volume["id"], "kept")
    await client.put(f"/networking/ips/{before['ipv4'][0]}", {"rdns": None})

    assert await client.post(f"{path}/migrate", GO) == {}
    row = await client.get(path)
    assert row["status"] in ("migrating", "offline", "booting", "running")
    await quiet(client, path)
    row = await client.get(path)
    assert (row["status"], row["region"], row["tags"]) == ("running", ELSEWHERE, ["blue"])
    assert len(row["ipv4"]) == 2
    assert not {*row["ipv4"], row["ipv6"]} & {*before["ipv4"], before["ipv6"]}
    assert (row["type"], row["specs"]) == (before["type"], before["specs"])
    state = await plane(roost).inspect(compute_id)
    assert state is not None
    assert state.power == "running"
    assert await plane(roost).disks.read(compute_id, root["id"]) == "written here"
    assert await engine_of(roost).inspect(compute_id) is None
    held = (await client.get(f"{path}/ips"))["ipv4"]
    assert [each["region"] for each in (*held["public"], *held["private"])] == [ELSEWHERE] * 2
    assert (await client.get(f"{path}/backups/{backup['id']}"))["region"] == ELSEWHERE
    assert backup["id"] in [each.id for each in await plane(roost).backups.list()]
    found = await client.get(f"{VOLUMES}/{volume['id']}")
    assert (found["region"], found["compute_id"]) == (ELSEWHERE, compute_id)
    assert await plugged(roost, volume["id"], ELSEWHERE) == compute_id
    assert await volume_engine(roost, ELSEWHERE).read(volume["id"]) == "kept"
    told = [(each["action"], each["status"]) for each in await events(client, path)]
    assert told[:3] == [
        ("compute_boot", "finished"),
        ("compute_migrate_datacenter", "finished"),
        ("compute_migrate_datacenter_create", "notification"),
    ]


async def test_what_is_off_stays_off_and_comes_back(client: Client, roost: Roost) -> None:
    path = path_of(await made(client))
    for region in (ELSEWHERE, "us-lake"):
        await client.post(f"{path}/migrate", {"region": region, "type": "warm"})
        await quiet(client, path)
        row = await client.get(path)
        assert (row["status"], row["region"]) == ("offline", region)
    assert (await powered(client, path, "boot"))["status"] == "running"
    assert (await engine_of(roost).inspect(id_of(path))) is not None


async def test_a_guest_that_runs_is_told_why_it_is_powered_off(client: Client) -> None:
    path = await running(client)
    await client.post(f"{path}/migrate", GO | {"type": "warm"})
    await quiet(client, path)
    request = next(
        each
        for each in await events(client, path)
        if each["action"] == "compute_migrate_datacenter_create"
    )
    assert "addresses change with the region" in request["message"]
    assert (await client.get(path))["status"] == "running"


async def test_its_former_addresses_are_free_then(client: Client, roost: Roost) -> None:
    path = await running(client)
    address = (await client.get(path))["ipv4"][0]
    await client.post(f"{path}/migrate", GO)
    await quiet(client, path)
    leaving = "select count(*) from ip_leaving where compute_id = $1"
    assert await roost.store.fetchval(leaving, id_of(path)) == 0
    holder = "select compute_id from ip_address where address = $1::text::inet"
    assert await roost.store.fetchval(holder, address) is None


async def test_its_firewalls_filter_it_there(client: Client, roost: Roost) -> None:
    path = await running(client)
    firewall = await client.post(
        "/networking/firewalls",
        {
            "label": "front",
            "rules": {"inbound_policy": "DROP", "outbound_policy": "ACCEPT"},
            "devices": {"computes": [id_of(path)]},
        },
    )
    await client.post(f"{path}/migrate", GO)
    await quiet(client, path)
    address = (await client.get(path))["ipv4"][0]
    engines = roost.services.get(Engines).by_region(FIREWALL_PLANE)
    held = {region: await engine.list() for region, engine in engines.items()}
    [there] = [each for each in held[ELSEWHERE] if each.id == firewall["id"]]
    assert address in there.addresses
    assert firewall["id"] not in [each.id for each in held["us-lake"]]


async def test_an_upgrade_on_the_way(client: Client) -> None:
    path = path_of(await made(client, type="g0-standard-1"))
    await client.post(f"{path}/migrate", {**GO, "upgrade": True})
    await quiet(client, path)
    row = await client.get(path)
    assert (row["region"], row["type"], row["specs"]["memory"]) == (
        ELSEWHERE,
        "g1-standard-1",
        2048,
    )


async def test_a_plan_without_a_successor(client: Client) -> None:
    path = path_of(await made(client))
    answer = await client.send("POST", f"{path}/migrate", {**GO, "upgrade": True})
    reason = "There is no upgrade for the service plan of this Compute."
    assert (answer.status, answer.problems) == (400, [(None, reason)])
    assert (await client.get(path))["status"] == "offline"


@pytest.mark.parametrize("operation", ["take", "volume_take"])
@pytest.mark.usefixtures("quick_retries")
async def test_what_cannot_go_stays_whole(
    client: Client, roost: Roost, operation: Operation
) -> None:
    path = await running(client)
    compute_id, before = id_of(path), await client.get(path)
    volume = await made_volume(client)
    await attached(client, volume["id"], compute_id)
    plan = plane(roost).plan
    await plan.fail(operation, "The other host is full")
    await client.post(f"{path}/migrate", GO)
    event = await quiet(client, path)
    await plan.mend(operation)
    assert (event["status"], event["message"]) == ("failed", "The other host is full")
    row = await client.get(path)
    assert row == {**before, "updated": row["updated"]}
    assert await plugged(roost, volume["id"]) == compute_id
    assert await plane(roost).inspect(compute_id) is None
    await client.post(f"{path}/migrate", GO)
    await quiet(client, path)
    assert (await client.get(path))["region"] == ELSEWHERE


async def test_a_region_without_addresses(client: Client, roost: Roost) -> None:
    path = await running(client)
    before = await client.get(path)
    used = await roost.store.fetch(
        "delete from ip_pool where region = $1 returning cidr::text, gateway::text, kind", ELSEWHERE
    )
    await roost.store.execute("delete from ip_address where region = $1", ELSEWHERE)
    try:
        await client.post(f"{path}/migrate", GO)
        event = await quiet(client, path)
    finally:
        for pool in used:
            await roost.store.execute(
                "insert into ip_pool (region, cidr, gateway, kind) values ($1, $2, $3, $4)",
                ELSEWHERE,
                *pool.values(),
            )
    assert event["message"] == "The region has no free IPv4 address."
    row = await client.get(path)
    assert row == {**before, "updated": row["updated"]}


async def test_nothing_is_changed_on_the_way(client: Client, roost: Roost) -> None:
    """What could come to be in the former region is refused; what can wait does."""
    path = await running(client)
    compute_id = id_of(path)
    volume, free = await made_volume(client), await made_volume(client, label="free")
    await attached(client, volume["id"], compute_id)
    async with paused(roost, "take", region=ELSEWHERE):
        await client.post(f"{path}/migrate", GO)
        assert (await client.get(path))["status"] == "migrating"
        for target, body in (
            (f"{path}/ips", {"type": "ipv4", "public": False}),
            (f"{path}/disks", {"label": "more", "size": 1}),
            (f"{path}/rebuild", {}),
            (f"{path}/migrate", {"region": "us-lake"}),
            (f"{VOLUMES}/{free['id']}/attach", {"compute_id": compute_id}),
        ):
            answer = await client.send("POST", target, body)
            assert answer.status == 400, target
            assert (None, "Compute busy.") in answer.problems or target.endswith("rebuild"), target
        await client.post(f"{VOLUMES}/{volume['id']}/detach")
        answer = await client.send("DELETE", f"{VOLUMES}/{volume['id']}")
        assert answer.problems == [(None, "Volume is migrating.")]
    await quiet(client, path)
    await until(
        lambda: client.get(f"{VOLUMES}/{volume['id']}"), lambda row: row["compute_id"] is None
    )
    assert (await client.get(f"{VOLUMES}/{volume['id']}"))["region"] == ELSEWHERE
    await client.delete(f"{VOLUMES}/{volume['id']}")


async def _in_a_vlan(client: Client, row: Json) -> None:
    config = (await client.get(f"{path_of(row)}/configs"))["data"][0]
    await client.post(
        f"{path_of(row)}/configs/{config['id']}/interfaces", {"purpose": "vlan", "label": "inner"}
    )


async def _with_a_range(client: Client, row: Json) -> None:
    await client.post("/networking/ipv6/ranges", {"compute_id": row["id"], "prefix_length": 64})


async def _sharing(client: Client, row: Json) -> None:
    other = await made(client)
    body = {"compute_id": row["id"], "ips": other["ipv4"]}
    await client.post("/networking/ips/share", body)


@pytest.mark.parametrize(
    ("tie", "reason"),
    [
        (_in_a_vlan, "Compute is in a VLAN or VPC"),
        (_with_a_range, "Compute has an IPv6 range"),
        (_sharing, "Compute shares addresses with others"),
    ],
)
async def test_what_keeps_it_where_it_is(client: Client, tie: Tie, reason: str) -> None:
    row = await made(client)
    await tie(client, row)
    await quiet(client, path_of(row))
    answer = await client.send("POST", f"{path_of(row)}/migrate", GO)
    assert (answer.status, answer.problems) == (400, [("region", reason)])


async def test_a_pending_migration_begins_at_once(client: Client, roost: Roost) -> None:
    """Without a region it is the one that maintenance has announced."""
    path = await running(client)
    async with roost.store.transaction() as db:
        await maintenance.schedule(
            db, id_of(path), "cold_migration", datetime(2100, 1, 1), "a new host"
        )
    await client.post(f"{path}/migrate", {})
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("compute_migrate", "finished")
    assert (await client.get(path))["status"] == "running"
    [row] = (await client.get("/account/maintenance"))["data"]
    assert row["status"] == "completed"
    answer = await client.send("POST", f"{path}/migrate", {})
    assert answer.status == 400


async def test_a_restricted_user_needs_the_instance(client: Client, stranger: Client) -> None:
    row = await made(client)
    answer = await stranger.send("POST", f"{path_of(row)}/migrate", GO)
    assert answer.status == 404
