"""Managed databases over HTTP, on the simulated engine."""

import base64
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import pytest

from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.core.limits.queries import set_limit
from roost.engines.simulated.databases import SimulatedDatabases
from roost.resources.databases import queries, watch_jobs
from roost.resources.databases.engine import DatabaseSpec
from roost.resources.databases.name_jobs import RESOURCE, SYNC, NamesArgs
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, until
from tests.support.databases import (
    DATABASES,
    at_rest,
    database_body,
    database_engine,
    database_events,
    made_backup,
    made_database,
    planned,
    tick,
)
from tests.support.resolving import answers, where
from tests.support.volumes import fault_plan, paused, slow

UPDATES = {
    "frequency": "weekly",
    "duration": 3,
    "hour_of_day": 0,
    "day_of_week": 1,
    "week_of_month": None,
}


@pytest.mark.spec(
    "A database engine record",
    "A database engine id",
    "A databases engines list",
    "A databases engines view",
)
async def test_engines_and_plans_are_public(nobody: Client) -> None:
    engines = (await nobody.get("/databases/engines/"))["data"]
    assert {engine["id"] for engine in engines} >= {"mysql/8.0.30", "mysql/10.11"}
    for engine_id in ("mysql/8.0.30", "mysql%2F8.0.30"):
        assert await nobody.get(f"/databases/engines/{engine_id}") in engines
    types = (await nobody.get("/databases/types"))["data"]
    assert [price["quantity"] for price in types[0]["engines"]["mysql"]] == [1, 3]
    assert await nobody.get(f"/databases/types/{types[0]['id']}") == types[0]


@pytest.mark.spec(
    "A databases create",
    "A databases create required",
    "A databases create optional",
    "A databases create time",
    "A databases view",
    "A database record",
    "A database engine",
    "A database cluster size",
    "A database cluster size default",
    "A database encrypted",
    "A database ssl",
    "A database hosts",
    "A database port",
    "A database status",
    "A database updates",
    "A database allow_list default",
)
async def test_a_database_is_made(client: Client, roost: Roost) -> None:
    async with paused(roost, "database_create"):
        row = await client.post(DATABASES, database_body())
        assert (row["status"], row["hosts"]) == (
            "provisioning",
            {"primary": None, "secondary": None},
        )
        for path in ("credentials", "ssl", "backups"):
            answer = await client.send("GET", f"{DATABASES}/{row['id']}/{path}")
            assert answer.status == 400
        assert (await client.send("DELETE", f"{DATABASES}/{row['id']}")).status == 400
    done = await at_rest(client, row["id"])
    assert done == {
        **row,
        "status": "active",
        "hosts": {"primary": f"database-{row['id']}.us-lake.db.roost.internal", "secondary": None},
        "updated": done["updated"],
        "used_disk_size_gb": done["used_disk_size_gb"],
    }
    assert (row["engine"], row["version"], row["cluster_size"]) == ("mysql", "8.0.30", 1)
    assert (row["encrypted"], row["ssl_connection"], row["replication_type"]) == (
        False,
        True,
        "none",
    )
    assert (row["allow_list"], row["port"], row["updates"]) == ([], 3306, UPDATES)
    assert row["total_disk_size_gb"] == 25
    assert await database_events(client, row["id"]) == [("database_create", "finished")]


@pytest.mark.spec("A databases customers")
async def test_only_for_those_who_have_one(client: Client, stranger: Client, roost: Roost) -> None:
    row = await made_database(client)
    for each in (client, stranger):
        euuid = (await each.get("/account"))["euuid"]
        owner = await roost.store.fetchval("select id from account where euuid = $1", euuid)
        await set_limit(roost.store, owner, "databases", 0)
        refused = await each.send("POST", DATABASES, database_body(label="another"))
        assert (refused.status, refused.problems[0][1][:23]) == (400, "You've reached a limit ")
        assert (await each.get("/databases/instances"))["results"] == (each is client)
    changed = await client.put(f"{DATABASES}/{row['id']}", {"label": "renamed"})
    assert changed["label"] == "renamed"


@pytest.mark.spec("A database cluster")
async def test_a_cluster_has_replicas(client: Client) -> None:
    row = await made_database(client, cluster_size=3)
    assert (row["cluster_size"], row["replication_type"]) == (3, "semi_synch")
    assert row["hosts"]["secondary"].startswith(f"database-{row['id']}-secondary.")


@pytest.mark.spec("A database hosts")
async def test_hosts_are_names_that_resolve_while_the_database_is_there(
    client: Client, roost: Roost
) -> None:
    """Also those of one that could not be made are gone."""

    def resolved(name: str) -> Callable[[], Awaitable[list[str]]]:
        return lambda: answers(where(roost), name, "A")

    row = await made_database(client, cluster_size=3)
    names = [row["hosts"]["primary"], row["hosts"]["secondary"]]
    for name in names:
        await until(resolved(name), lambda found: found == ["192.0.2.1"])
    await client.delete(f"{DATABASES}/{row['id']}")
    for name in names:
        await until(resolved(name), lambda found: found == [])
    async with planned(roost, "database_create"):
        row = await made_database(client, label="unlucky")
    assert row["status"] == "failed"
    name = f"database-{row['id']}.us-lake.db.roost.internal"
    await until(resolved(name), lambda found: found == [])


async def test_nobody_has_the_zone_of_databases(client: Client) -> None:
    for zone in ("db.roost.internal", "us-lake.db.roost.internal"):
        body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
        assert (await client.send("POST", "/domains", body)).status == 400


async def test_a_patch_names_what_had_no_name_before(client: Client, roost: Roost) -> None:
    """As databases of former releases, whose certificates show no name."""
    row = await made_database(client)
    name = row["hosts"]["primary"]
    former = "update managed_database set host_primary = '127.0.0.1' where id = $1"
    await roost.store.execute(former, row["id"])
    await roost.queue.enqueue(roost.store, SYNC, NamesArgs(), resource=RESOURCE)
    await until(lambda: answers(where(roost), name, "A"), lambda found: found == [])
    await client.post(f"{DATABASES}/{row['id']}/patch")
    assert (await at_rest(client, row["id"]))["hosts"]["primary"] == name
    await until(lambda: answers(where(roost), name, "A"), lambda found: found == ["192.0.2.1"])


@pytest.mark.spec(
    "A databases list",
    "A databases list fields",
    "A databases list uri",
    "A databases mysql list",
)
async def test_lists(client: Client) -> None:
    row = await made_database(client)
    assert (await client.get(DATABASES))["data"] == [row]
    missing = (
        "port",
        "replication_type",
        "ssl_connection",
        "total_disk_size_gb",
        "used_disk_size_gb",
        "fork",
        "oldest_restore_time",
    )
    common = {name: value for name, value in row.items() if name not in missing}
    uri = f"/v4/databases/mysql/instances/{row['id']}"
    assert (await client.get("/databases/instances"))["data"] == [common | {"instance_uri": uri}]


@pytest.mark.spec(
    "A limits database label",
    "A database label unique",
    "A database replication",
    "A database allow_list",
)
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("label", "ab", "Length must be 3-32 characters"),
        ("label", "x" * 33, "Length must be 3-32 characters"),
        ("label", None, "label is required"),
        ("label", "taken", "Label must be unique among your databases"),
        ("region", "nowhere", "region is not valid"),
        ("type", "g1-none", "A valid plan type by that ID was not found"),
        ("engine", "mysql", "engine is not valid"),
        ("engine", "postgresql/14.6", "engine is not valid"),
        ("cluster_size", 2, "Must be one of 1, 3"),
        ("replication_type", "asynch", "Must be none with a cluster_size of 1"),
        (
            "allow_list",
            ["192.0.2.1/24"],
            "Must be an IPv4 or IPv6 address, or a network such as 192.0.2.0/24",
        ),
    ],
)
async def test_what_is_wrong_is_named(
    client: Client, field: str, value: object, reason: str
) -> None:
    await made_database(client, label="taken")
    answer = await client.send("POST", DATABASES, database_body(**{field: value}))
    assert answer.status == 400
    named, said = answer.problems[0]
    assert (named or "").partition(".")[0].partition("[")[0] == field
    if field != "cluster_size":
        assert said == reason
    assert (await client.get(DATABASES))["results"] == 1


@pytest.mark.spec(
    "A databases update",
    "A databases update status",
    "A databases update allow_list",
    "A database allow_list 1",
    "A database allow_list 2",
    "A database allow_list 3",
    "A database allow_list 4",
)
async def test_an_allow_list_is_replaced(client: Client, roost: Roost) -> None:
    engine = database_engine(roost)
    row = await made_database(client, allow_list=["192.0.2.1"])
    path = f"{DATABASES}/{row['id']}"
    login = await client.get(f"{path}/credentials")

    async def admits(source: str) -> bool:
        return await engine.admits(row["id"], login["username"], login["password"], source)

    assert (await admits("192.0.2.1"), await admits("192.0.2.2")) == (True, False)
    wanted = ["192.0.2.2", "10.0.0.0/8", "192.0.2.2/32"]
    async with paused(roost, "database_allow"):
        changed = await client.put(path, {"allow_list": wanted})
        assert changed["status"] == "updating"
        assert changed["allow_list"] == ["10.0.0.0/8", "192.0.2.2/32"]
        again = await client.send("PUT", path, {"label": "other"})
        assert again.problems == [(None, "Database is updating; it must be active.")]
    await at_rest(client, row["id"])
    assert (await admits("192.0.2.1"), await admits("192.0.2.2")) == (False, True)
    for networks, reached in ((["0.0.0.0/0"], True), ([], False)):
        await client.put(path, {"allow_list": networks})
        await at_rest(client, row["id"])
        assert await admits("192.0.2.1") == reached
    await client.put(path, {"allow_list": [f"10.0.{n}.0/24" for n in range(256)]})
    assert len((await at_rest(client, row["id"]))["allow_list"]) == 256
    events = await database_events(client, row["id"])
    assert events.count(("database_update", "finished")) == 4


@pytest.mark.usefixtures("quick_retries")
async def test_an_allow_list_that_cannot_be_in_force_is_as_before(
    client: Client, roost: Roost
) -> None:
    row = await made_database(client, allow_list=["192.0.2.1"])
    async with planned(roost, "database_restart"):
        await client.put(
            f"{DATABASES}/{row['id']}", {"type": "g1-standard-1", "allow_list": ["10.0.0.1"]}
        )
        await until(
            lambda: database_events(client, row["id"]),
            lambda events: events[0] == ("database_resize", "failed") or len(events) > 5,
        )
    after = await at_rest(client, row["id"])
    assert (after["type"], after["allow_list"]) == ("g1-nano-1", ["192.0.2.1/32"])


@pytest.mark.spec("A databases update type")
async def test_a_database_grows(client: Client) -> None:
    row = await made_database(client)
    path = f"{DATABASES}/{row['id']}"
    changed = await client.put(path, {"type": "g1-standard-1"})
    assert (changed["type"], changed["total_disk_size_gb"]) == ("g1-standard-1", 50)
    await at_rest(client, row["id"])
    assert (await database_events(client, row["id"]))[0] == ("database_resize", "finished")
    answer = await client.send("PUT", path, {"type": "g1-nano-1"})
    reason = "A database can only be resized to a plan with more disk"
    assert answer.problems == [("type", reason)]


@pytest.mark.parametrize(
    ("window", "field"),
    [
        ({"duration": 4, "hour_of_day": 0, "day_of_week": 1}, "updates.duration"),
        ({"duration": 1, "hour_of_day": 24, "day_of_week": 1}, "updates.hour_of_day"),
        ({"duration": 1, "hour_of_day": 0, "day_of_week": 0}, "updates.day_of_week"),
        (
            {"frequency": "monthly", "duration": 1, "hour_of_day": 0, "day_of_week": 1},
            "updates.week_of_month",
        ),
        (
            {"duration": 1, "hour_of_day": 0, "day_of_week": 1, "week_of_month": 2},
            "updates.week_of_month",
        ),
    ],
)
async def test_windows_that_cannot_be(client: Client, window: object, field: str) -> None:
    row = await made_database(client)
    answer = await client.send("PUT", f"{DATABASES}/{row['id']}", {"updates": window})
    assert [named for named, _ in answer.problems] == [field]


async def test_name_and_window_change_at_once(client: Client) -> None:
    row = await made_database(client)
    window = {
        "frequency": "monthly",
        "duration": 1,
        "hour_of_day": 4,
        "day_of_week": 7,
        "week_of_month": 4,
    }
    changes = {"label": "renamed", "updates": window}
    changed = await client.put(f"{DATABASES}/{row['id']}", changes)
    assert changed == {**row, **changes, "updated": changed["updated"]}


@pytest.mark.spec("A databases credentials")
async def test_credentials_are_reset(client: Client, roost: Roost) -> None:
    row = await made_database(client, allow_list=["192.0.2.1"])
    path, engine = f"{DATABASES}/{row['id']}", database_engine(roost)
    first = await client.get(f"{path}/credentials")
    assert await client.post(f"{path}/credentials/reset") == {}
    await at_rest(client, row["id"])
    second = await client.get(f"{path}/credentials")
    assert (first["username"], len(second["password"])) == (second["username"], 24)
    for login, works in ((first, False), (second, True)):
        name, password = login["username"], login["password"]
        assert await engine.admits(row["id"], name, password, "192.0.2.1") == works
    jobs = await roost.store.fetch("select args::text from job")
    events = await client.get("/account/events?page_size=500")
    for secret in (first["password"], second["password"]):
        assert secret not in "".join(each["args"] for each in jobs) + json.dumps(events)
    certificate = (await client.get(f"{path}/ssl"))["ca_certificate"]
    assert base64.b64decode(certificate).startswith(b"-----BEGIN CERTIFICATE-----")


@pytest.mark.spec("A databases delete", "A databases delete status", "A auth 5")
async def test_only_unrestricted_users_delete(
    client: Client, roost: Roost, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    row = await made_database(client)
    path = f"{DATABASES}/{row['id']}"
    somebody = await new_user(account, restricted=True)
    await client.put(
        f"/account/users/{somebody.username}/grants",
        {"database": [{"id": row["id"], "permissions": "read_write"}]},
    )
    restricted = client.as_user(await new_token(somebody))
    assert (await restricted.get(path))["id"] == row["id"]
    assert (await restricted.send("DELETE", path)).status == 403
    assert (await restricted.send("POST", f"{path}/credentials/reset", {})).status == 403
    assert await client.delete(path) == {}
    assert (await client.send("GET", path)).status == 404

    async def held() -> object:
        return await database_engine(roost).inspect(row["id"])

    assert await until(held, lambda state: state is None) is None
    await made_database(client)


@pytest.mark.spec("A auth 3 databases", "A auth 4 databases")
async def test_making_one_needs_a_right(
    client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    somebody = await new_user(account, restricted=True)
    restricted = client.as_user(await new_token(somebody))
    assert (await restricted.send("POST", DATABASES, database_body())).status == 403
    await client.put(
        f"/account/users/{somebody.username}/grants", {"global": {"add_databases": True}}
    )
    row = await made_database(restricted)
    reader = client.as_user(await new_token(somebody, "databases:read_only"))
    assert (await reader.get(f"{DATABASES}/{row['id']}"))["id"] == row["id"]
    assert (await reader.send("GET", f"{DATABASES}/{row['id']}/backups")).status == 401


@pytest.mark.usefixtures("quick_retries")
async def test_a_database_that_cannot_be_made_has_failed(client: Client, roost: Roost) -> None:
    async with planned(roost, "database_create"):
        row = await made_database(client)
    assert row["status"] == "failed"
    assert await database_engine(roost).inspect(row["id"]) is None
    assert await client.delete(f"{DATABASES}/{row['id']}") == {}


@pytest.mark.spec("A database status")
async def test_a_server_that_dies_is_started_again(client: Client, roost: Roost) -> None:
    row, engine = await made_database(client), database_engine(roost)
    await engine.crash(row["id"])
    await tick(roost)
    await until(
        lambda: database_events(client, row["id"]),
        lambda events: events[0] == ("database_degraded", "finished"),
    )
    state = await engine.inspect(row["id"])
    assert state is not None
    assert state.running
    assert (await client.get(f"{DATABASES}/{row['id']}"))["status"] == "active"


@pytest.mark.spec("A databases patches", "A databases patches downtime", "A databases upgrades")
async def test_patches_wait_for_the_window(client: Client, roost: Roost) -> None:
    row, engine, now = await made_database(client), database_engine(roost), roost.clock.now()
    path = f"{DATABASES}/{row['id']}"
    await engine.outdate(row["id"])
    for hours, patched in ((5, False), (0, True)):
        opens = now + timedelta(hours=hours)
        window = {"duration": 2, "hour_of_day": opens.hour, "day_of_week": opens.isoweekday()}
        await client.put(path, {"updates": window})
        await tick(roost)
        if patched:
            await until(
                lambda: database_events(client, row["id"]),
                lambda events: events[0] == ("database_update", "finished"),
            )
        state = await engine.inspect(row["id"])
        assert state is not None
        assert state.outdated != patched
    assert await client.post(f"{path}/patch") == {}
    assert (await at_rest(client, row["id"]))["version"] == row["version"]


@pytest.mark.spec(
    "A database backup record",
    "A database backup type",
    "A database backup snapshot",
    "A databases backups list",
    "A databases backups create",
    "A databases backups create status",
    "A databases backups create target",
    "A databases backups create target default",
    "A databases backups view",
    "A databases backups delete",
    "A databases backups status",
    "A limits snapshot label",
    "A limits database snapshots",
    "A errors 5 snapshots",
)
async def test_snapshots(client: Client, roost: Roost) -> None:
    row, engine = await made_database(client), database_engine(roost)
    path = f"{DATABASES}/{row['id']}/backups"
    await engine.write(row["id"], "first")
    async with paused(roost, "database_backup"):
        assert await client.post(path, {"label": "one"}) == {}
        assert (await client.get(f"{DATABASES}/{row['id']}"))["status"] == "backing_up"
        assert (await client.get(path))["data"] == []
        assert (await client.send("POST", path, {"label": "two"})).status == 400
    await at_rest(client, row["id"])
    first = (await client.get(path))["data"][0]
    assert (first["label"], first["type"]) == ("one", "snapshot")
    assert await client.get(f"{path}/{first['id']}") == first
    for body, field in (
        ({}, "label"),
        ({"label": ""}, "label"),
        ({"label": "x" * 31}, "label"),
        ({"label": "a b"}, "label"),
        ({"label": "one"}, "label"),
        ({"label": "two", "target": "third"}, "target"),
    ):
        answer = await client.send("POST", path, body)
        assert [named for named, _ in answer.problems] == [field]
    assert await client.post(path, {"label": "two", "target": "secondary"}) == {}
    await at_rest(client, row["id"])
    await made_backup(client, row["id"], "three")
    answer = await client.send("POST", path, {"label": "four"})
    assert answer.problems == [(None, "Database cannot have more than 3 snapshots.")]
    await engine.write(row["id"], "second")
    assert await client.post(f"{path}/{first['id']}/restore") == {}
    await at_rest(client, row["id"])
    assert await engine.read(row["id"]) == "first"
    assert await client.delete(f"{path}/{first['id']}") == {}
    assert (await client.send("GET", f"{path}/{first['id']}")).status == 404
    assert len((await client.get(path))["data"]) == 2


@pytest.mark.spec("A database backup auto", "A database backup auto kept")
async def test_automatic_backups_are_made_and_forgotten(client: Client, roost: Roost) -> None:
    row, old = await made_database(client), await made_database(client, label="older")
    for each, days in ((row, 1), (old, 20)):
        await roost.store.execute(
            "update managed_database set created = created - $2 * interval '1 day' where id = $1",
            each["id"],
            days,
        )
    expired = await made_backup(client, old["id"], "expired")
    await roost.store.execute(
        "update database_backup set type = 'auto', created = created - interval '8 days'"
        " where id = $1",
        expired["id"],
    )
    for _ in range(2):
        await tick(roost, watch_jobs.BACKUPS_DUE)
        for each in (row, old):
            await until(
                partial(client.get, f"{DATABASES}/{each['id']}/backups"),
                lambda page: [backup["type"] for backup in page["data"]] == ["auto"],
            )
    label = (await client.get(f"{DATABASES}/{row['id']}/backups"))["data"][0]["label"]
    assert label.startswith("Scheduled - ")
    assert (await client.get(f"{DATABASES}/{old['id']}/backups"))["data"][0]["id"] != expired["id"]


async def test_two_of_one_label(client: Client, roost: Roost) -> None:
    await made_database(client)
    answer = await client.send("POST", DATABASES, database_body())
    assert answer.problems == [("label", "Label must be unique among your databases")]
    assert len(await queries.in_region(roost.store, "mysql", "us-lake", 0, 1000)) > 0


async def _full(roost: Roost, database_id: int) -> bool:
    found = await queries.find(roost.store, database_id)
    assert found is not None
    return found.disk_full


async def test_a_full_disk_is_told_of_and_can_be_cleared(client: Client, roost: Roost) -> None:
    """Nobody waits for the clock, not even a backup that is being made."""
    row, engine = await made_database(client), database_engine(roost)
    path, view = f"{DATABASES}/{row['id']}", partial(_full, roost, row["id"])
    await engine.write(row["id"], "first")
    async with slow(roost, "database_backup", seconds=30):
        await client.post(f"{path}/backups", {"label": "now"})
        await engine.fill(row["id"], row["total_disk_size_gb"] * 1024)
        await until(view, bool)
    with pytest.raises(EngineError):
        await engine.write(row["id"], "second")
    shown = await at_rest(client, row["id"])
    assert shown["status"] == "active"
    assert shown["used_disk_size_gb"] == shown["total_disk_size_gb"]
    told = await database_events(client, row["id"])
    assert told[0] == ("database_low_disk_space", "notification")
    assert ("database_backup_create", "failed") in told
    assert row["id"] in [each["id"] for each in await queries.full(roost.store, 100)]
    await client.post(f"{path}/credentials/reset")
    await until(lambda: database_events(client, row["id"]), lambda events: len(events) > len(told))
    await at_rest(client, row["id"])
    with pytest.raises(EngineError):
        await engine.write(row["id"], "second")
    await engine.fill(row["id"], 120)
    await tick(roost)
    await until(view, lambda is_full: not is_full)
    await engine.write(row["id"], "second")
    assert (await database_events(client, row["id"]))[0] == ("database_update", "notification")


async def test_a_larger_plan_has_room(client: Client, roost: Roost) -> None:
    row, engine = await made_database(client), database_engine(roost)
    path, view = f"{DATABASES}/{row['id']}", partial(_full, roost, row["id"])
    await engine.fill(row["id"], row["total_disk_size_gb"] * 1024)
    await until(view, bool)
    await client.put(path, {"type": "g1-standard-1"})
    assert not await view()
    await at_rest(client, row["id"])
    await engine.write(row["id"], "more")


async def test_a_backup_gives_way_to_a_lost_server(client: Client, roost: Roost) -> None:
    """It can be made again, and clients wait."""
    row = await made_database(client)
    engine = database_engine(roost)
    await fault_plan(roost).set_latency(30, "database_backup")
    try:
        await client.post(f"{DATABASES}/{row['id']}/backups", {"label": "now"})
        await engine.crash(row["id"])
        await until(
            lambda: engine.inspect(row["id"]), lambda state: state is not None and state.running
        )
        path = f"{DATABASES}/{row['id']}"
        await until(lambda: client.get(path), lambda found: found["status"] == "active")
    finally:
        await fault_plan(roost).set_latency(0, "database_backup")
    left = "select count(*) from database_backup where database_id = $1"
    assert await roost.store.fetchval(left, row["id"]) == 0
    told = await database_events(client, row["id"])
    assert ("database_degraded", "finished") in told
    assert ("database_backup_create", "failed") in told


async def test_a_primary_that_was_started_again_is_told_of(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a cluster a replica should have led, which had too much to apply."""
    row, engine = await made_database(client, cluster_size=3), database_engine(roost)
    served = SimulatedDatabases.ensure

    async def ensure(self: SimulatedDatabases, spec: DatabaseSpec) -> bool:
        await served(self, spec)
        return False

    monkeypatch.setattr(SimulatedDatabases, "ensure", ensure)
    await engine.crash(row["id"])
    await until(
        lambda: database_events(client, row["id"]),
        lambda told: ("database_degraded", "notification") in told,
    )
    await until(
        lambda: client.get(f"{DATABASES}/{row['id']}"), lambda found: found["status"] == "active"
    )
    events = (await client.get("/account/events"))["data"]
    assert any("without a primary key" in (event["message"] or "") for event in events)
