"""Managed PostgreSQL databases over HTTP, on the simulated engine."""

import base64

import pytest

from roost.app.fsck import check_all
from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.engines.simulated.databases import SimulatedDatabases
from roost.resources.databases import queries
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, until
from tests.support.databases import (
    DATABASES,
    POSTGRESQL,
    at_rest,
    database_body,
    database_engine,
    database_events,
    made_backup,
    made_database,
    made_postgresql,
    next_second,
)
from tests.support.postgresql_operations import Noting, documented
from tests.support.volumes import paused

BODY = database_body(label="ledger", engine="postgresql/15")


async def test_a_database_is_made(client: Client, roost: Roost) -> None:
    async with paused(roost, "database_create"):
        row = await client.post(POSTGRESQL, BODY)
        assert row["status"] == "provisioning"
        for path in ("credentials", "ssl", "backups"):
            answer = await client.send("GET", f"{POSTGRESQL}/{row['id']}/{path}")
            assert answer.status == 400
    done = await at_rest(client, row["id"], POSTGRESQL)
    assert (done["engine"], done["version"], done["port"]) == ("postgresql", "15", 5432)
    assert (done["replication_type"], done["replication_commit_type"]) == ("none", "local")
    assert done["hosts"]["primary"] == f"database-{row['id']}.us-lake.db.roost.internal"
    login = await client.get(f"{POSTGRESQL}/{row['id']}/credentials")
    assert login["username"] == "roostadmin"
    certificate = (await client.get(f"{POSTGRESQL}/{row['id']}/ssl"))["ca_certificate"]
    assert b"BEGIN CERTIFICATE" in base64.b64decode(certificate)
    assert await database_events(client, row["id"]) == [("database_create", "finished")]
    event = (await client.get("/account/events", filter={"entity.id": row["id"]}))["data"][0]
    assert event["entity"]["url"] == f"/v4{POSTGRESQL}/{row['id']}"


async def test_each_kind_has_its_own_paths(client: Client) -> None:
    mysql = await made_database(client)
    postgresql = await made_postgresql(client, label="ledger")
    for path, own, other in (
        (DATABASES, mysql, postgresql),
        (POSTGRESQL, postgresql, mysql),
    ):
        assert [row["id"] for row in (await client.get(path))["data"]] == [own["id"]]
        assert (await client.get(f"{path}/{own['id']}"))["id"] == own["id"]
        for method, suffix in (
            ("GET", ""),
            ("PUT", ""),
            ("DELETE", ""),
            ("GET", "/credentials"),
            ("POST", "/credentials/reset"),
            ("GET", "/ssl"),
            ("POST", "/patch"),
            ("GET", "/backups"),
        ):
            answer = await client.send(method, f"{path}/{other['id']}{suffix}")
            assert answer.status == 404, (method, suffix)
        body = {"label": "one"}
        assert (await client.send("POST", f"{path}/{other['id']}/backups", body)).status == 404
    both = {row["id"]: row for row in (await client.get("/databases/instances"))["data"]}
    assert both.keys() == {mysql["id"], postgresql["id"]}
    for kind, row in (("mysql", mysql), ("postgresql", postgresql)):
        found = both[row["id"]]
        assert (found["engine"], found["instance_uri"]) == (
            kind,
            f"/v4/databases/{kind}/instances/{row['id']}",
        )
        only = await client.get("/databases/instances", filter={"engine": kind})
        assert [each["id"] for each in only["data"]] == [row["id"]]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("engine", "mysql/8.0.30", "engine is not valid"),
        ("engine", "postgresql", "engine is not valid"),
        ("replication_type", "asynch", "Must be none with a cluster_size of 1"),
        ("replication_type", "semi_synch", "Must be one of none, asynch"),
        (
            "replication_commit_type",
            "never",
            "Must be one of off, on, local, remote_write, remote_apply",
        ),
    ],
)
async def test_what_is_refused(client: Client, field: str, value: str, reason: str) -> None:
    answer = await client.send("POST", POSTGRESQL, {**BODY, field: value})
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert (await client.get(POSTGRESQL))["results"] == 0


async def test_a_label_is_of_one_database_of_any_kind(client: Client) -> None:
    await made_database(client, label="ledger")
    answer = await client.send("POST", POSTGRESQL, BODY)
    assert answer.problems == [("label", "Label must be unique among your databases")]


async def test_three_nodes(client: Client) -> None:
    row = await made_postgresql(client, cluster_size=3, replication_commit_type="remote_apply")
    assert (row["replication_type"], row["cluster_size"]) == ("asynch", 3)
    assert row["replication_commit_type"] == "remote_apply"
    assert row["hosts"]["secondary"] is not None


async def test_it_is_changed_and_patched(client: Client, roost: Roost) -> None:
    row = await made_postgresql(client)
    path = f"{POSTGRESQL}/{row['id']}"
    changed = await client.put(path, {"label": "renamed", "allow_list": ["192.0.2.1"]})
    assert (changed["label"], changed["allow_list"]) == ("renamed", ["192.0.2.1/32"])
    await at_rest(client, row["id"], POSTGRESQL)
    grown = await client.put(path, {"type": "g1-standard-1"})
    assert grown["total_disk_size_gb"] == 50
    await at_rest(client, row["id"], POSTGRESQL)
    before = await client.get(f"{path}/credentials")
    await client.post(f"{path}/credentials/reset")
    await at_rest(client, row["id"], POSTGRESQL)
    after = await client.get(f"{path}/credentials")
    assert after["password"] != before["password"]
    engine = database_engine(roost, kind="postgresql")
    assert await engine.admits(row["id"], after["username"], after["password"], "192.0.2.1")
    await client.post(f"{path}/patch")
    assert (await at_rest(client, row["id"], POSTGRESQL))["status"] == "active"


async def test_backups_are_put_back_and_forked(client: Client, roost: Roost) -> None:
    engine, row = database_engine(roost, kind="postgresql"), await made_postgresql(client)
    path = f"{POSTGRESQL}/{row['id']}"
    await engine.write(row["id"], "first")
    backup = await made_backup(client, row["id"], databases=POSTGRESQL)
    assert await client.get(f"{path}/backups/{backup['id']}") == backup
    await next_second()
    await engine.write(row["id"], "second")
    await next_second()
    fork = await made_postgresql(client, label="fork", fork={"source": row["id"]})
    assert await engine.read(fork["id"]) == "second"
    assert fork["fork"]["source"] == row["id"]
    await client.post(f"{path}/backups/{backup['id']}/restore")
    await at_rest(client, row["id"], POSTGRESQL)
    assert await engine.read(row["id"]) == "first"
    answer = await client.send("POST", DATABASES, database_body(fork={"source": row["id"]}))
    assert ("engine", "Must be the engine of the database that is forked") in answer.problems
    await client.delete(f"{path}/backups/{backup['id']}")
    await at_rest(client, row["id"], POSTGRESQL)


async def test_every_operation_is_done(client: Client) -> None:
    """As on a real server (`test_postgresql_servers.py`)."""
    client = Noting(client)
    row = await made_postgresql(client)
    path = f"{POSTGRESQL}/{row['id']}"
    backup = await made_backup(client, row["id"], databases=POSTGRESQL)
    kept = f"{path}/backups/{backup['id']}"
    assert [each["id"] for each in (await client.get(POSTGRESQL))["data"]] == [row["id"]]
    for view in (kept, f"{path}/ssl", f"{path}/credentials"):
        await client.get(view)
    await client.put(path, {"label": "renamed"})
    for change in (f"{path}/credentials/reset", f"{path}/patch", f"{kept}/restore"):
        await client.post(change)
        await at_rest(client, row["id"], POSTGRESQL)
    for gone in (kept, path):
        await client.delete(gone)
    assert documented(client) == client.done


async def test_who_fills_the_disk_waits_while_room_is_made(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As making it takes a while."""
    engine, row = database_engine(roost, kind="postgresql"), await made_postgresql(client)
    make_room, refused = SimulatedDatabases.free, list[bool]()

    async def free(self: SimulatedDatabases, database_id: int) -> None:
        if database_id == row["id"]:
            refused.append(await _is_refused(engine, database_id))
        await make_room(self, database_id)

    monkeypatch.setattr(SimulatedDatabases, "free", free)
    await engine.fill(row["id"], row["total_disk_size_gb"] * 1024)
    await until(
        lambda: database_events(client, row["id"]),
        lambda events: events[0] == ("database_low_disk_space", "notification"),
    )
    assert refused
    assert all(refused)


async def test_sessions_that_end_while_room_is_made_are_told_of(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, row = database_engine(roost, kind="postgresql"), await made_postgresql(client)
    make_room = SimulatedDatabases.free

    async def free(self: SimulatedDatabases, database_id: int) -> None:
        await make_room(self, database_id)
        if database_id == row["id"]:
            await engine.fill(database_id, 1)

    monkeypatch.setattr(SimulatedDatabases, "free", free)
    await engine.fill(row["id"], row["total_disk_size_gb"] * 1024)
    await until(
        lambda: database_events(client, row["id"]),
        lambda events: events[0] == ("database_update", "notification"),
    )
    assert not await _is_refused(engine, row["id"])


async def _is_refused(engine: SimulatedDatabases, database_id: int) -> bool:
    try:
        await engine.write(database_id, "more")
    except EngineError:
        return True
    return False


async def test_nothing_is_left(client: Client, roost: Roost) -> None:
    engine, row = database_engine(roost, kind="postgresql"), await made_postgresql(client)
    assert [each.id for each in await database_engine(roost).list()].count(row["id"]) == 0
    await client.delete(f"{POSTGRESQL}/{row['id']}")
    assert (await client.send("GET", f"{POSTGRESQL}/{row['id']}")).status == 404

    async def found() -> bool:
        return await queries.find(roost.store, row["id"]) is None

    await until(found, bool)
    assert await engine.inspect(row["id"]) is None


async def test_what_is_lost_is_found(client: Client, roost: Roost) -> None:
    engine, row = database_engine(roost, kind="postgresql"), await made_postgresql(client)
    await engine.lose(row["id"])
    lines: list[str] = []
    await check_all(roost, False, lines.append)
    found = [line for line in lines if f"database {row['id']} " in line]
    assert len(found) == 1
    assert f"database {row['id']} of region us-lake has lost its data" in found[0]


async def test_it_costs_what_the_catalogue_says(client: Client, roost: Roost) -> None:
    row = await made_postgresql(client, cluster_size=3)
    plan = await client.get("/databases/types/g1-nano-1")
    price = next(each for each in plan["engines"]["postgresql"] if each["quantity"] == 3)
    found = await roost.store.fetch(
        "select service, hourly::float from ledger where resource_id = $1 and service like 'db_%'",
        row["id"],
    )
    assert [tuple(each) for each in found] == [("db_postgresql", price["price"]["hourly"])]


async def test_grants_are_of_all_kinds(
    client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    row = await made_postgresql(client)
    user = client.as_user(await new_token(await new_user(account, restricted=True)))
    assert (await user.send("GET", f"{POSTGRESQL}/{row['id']}")).status == 403
    assert (await user.get(POSTGRESQL))["data"] == []
