"""Databases that begin with what another one had, and backups that are verified."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from roost.app.roost import Roost
from roost.ids import new_uuid
from roost.resources.databases import backup_queries, upkeep_jobs
from roost.resources.databases.settings import Verification
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.databases import (
    DATABASES,
    at_rest,
    database_body,
    database_engine,
    database_events,
    made_backup,
    made_database,
    next_second,
    planned,
)


def fork_body(source: int, moment: datetime | str | None = None, **changes: object) -> Json:
    time = moment.isoformat() if isinstance(moment, datetime) else moment
    label = f"f{new_uuid()[:8]}"
    return database_body(label=label, fork={"source": source, "restore_time": time}, **changes)


async def test_a_fork_has_what_was_there_at_a_moment(client: Client, roost: Roost) -> None:
    engine, source = database_engine(roost), await made_database(client)
    assert (source["fork"], source["oldest_restore_time"]) == (None, None)
    await engine.write(source["id"], "first")
    backup = await made_backup(client, source["id"])
    shown = await client.get(f"{DATABASES}/{source['id']}")
    oldest = datetime.fromisoformat(shown["oldest_restore_time"])
    assert oldest >= datetime.fromisoformat(backup["created"])
    await next_second(roost.clock)
    await engine.write(source["id"], "second")
    moment = await next_second(roost.clock)
    await engine.write(source["id"], "third")
    for time, content in ((oldest, "first"), (moment, "second"), (None, "third")):
        await next_second(roost.clock)
        row = await client.post(DATABASES, fork_body(source["id"], time, allow_list=["::1"]))
        assert row["fork"]["source"] == source["id"]
        assert time is None or row["fork"]["restore_time"] == time.isoformat()
        assert (await at_rest(client, row["id"]))["status"] == "active"
        assert await engine.read(row["id"]) == content
        assert await database_events(client, row["id"]) == [("database_create", "finished")]
        credentials = await client.get(f"{DATABASES}/{row['id']}/credentials")
        assert await engine.admits(row["id"], "roostadmin", credentials["password"], "::1")
    await client.delete(f"{DATABASES}/{source['id']}/backups/{backup['id']}")
    await until(
        lambda: client.get(f"{DATABASES}/{source['id']}"),
        lambda found: found["oldest_restore_time"] is None,
    )
    refused = await client.send("POST", DATABASES, fork_body(source["id"]))
    assert refused.problems == [("fork.source", "Database has no backup that can be forked")]


async def test_what_cannot_be_forked(client: Client, stranger: Client, roost: Roost) -> None:
    source = await made_database(client, encrypted=True, type="g1-standard-1")
    await made_backup(client, source["id"])
    now = await next_second(roost.clock)
    foreign = await made_database(stranger)
    body: dict[str, Any] = {"encrypted": True, "type": "g1-standard-1"}
    for changes, problems in (
        (fork_body(foreign["id"], **body), ["fork.source"]),
        (fork_body(999_999_999, **body), ["fork.source"]),
        (fork_body(source["id"], now + timedelta(hours=1), **body), ["fork.restore_time"]),
        (fork_body(source["id"], now - timedelta(hours=1), **body), ["fork.restore_time"]),
        (fork_body(source["id"], "yesterday", **body), ["fork.restore_time"]),
        (fork_body(source["id"]), ["type", "encrypted"]),
        (
            fork_body(source["id"], region="br-south", engine="mysql/10.11", **body),
            ["region", "engine"],
        ),
        (database_body(label="fff", fork={}), ["fork.source"]),
        (database_body(label="fff", fork=7), ["fork"]),
    ):
        refused = await client.send("POST", DATABASES, changes)
        assert (refused.status, [field for field, _ in refused.problems]) == (400, problems)
    assert (await client.get(DATABASES))["results"] == 1
    empty = await client.post(DATABASES, database_body(label="none", fork=None))
    assert empty["fork"] is None


async def test_a_fork_needs_a_grant_of_its_source(
    client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    source = await made_database(client)
    await made_backup(client, source["id"])
    user = await new_user(account, restricted=True)
    restricted = client.as_user(await new_token(user))
    grants = f"/account/users/{user.username}/grants"
    await client.put(grants, {"global": {"add_databases": True}})
    await next_second()
    assert (await restricted.send("POST", DATABASES, fork_body(source["id"]))).status == 403
    row = {"id": source["id"], "permissions": "read_only"}
    await client.put(grants, {"database": [row]})
    made = await restricted.post(DATABASES, fork_body(source["id"]))
    assert (await at_rest(restricted, made["id"]))["status"] == "active"


@pytest.mark.usefixtures("quick_retries")
async def test_a_fork_that_fails_leaves_nothing(client: Client, roost: Roost) -> None:
    source = await made_database(client)
    await made_backup(client, source["id"])
    await next_second(roost.clock)
    async with planned(roost, "database_create"):
        row = await client.post(DATABASES, fork_body(source["id"]))
        assert (await at_rest(client, row["id"]))["status"] == "failed"
    assert await database_engine(roost).inspect(row["id"]) is None


async def verifications(roost: Roost) -> None:
    """What the clock would do, now, and all that comes of it."""
    queue, store = roost.queue, roost.store
    due = await queue.enqueue(store, upkeep_jobs.VERIFICATIONS_DUE, upkeep_jobs.UpkeepArgs())
    unfinished = "select count(*) from job where (id = $1 or kind = $2) and finished is null"

    async def left() -> int:
        found: int = await store.fetchval(unfinished, due.id, upkeep_jobs.VERIFY.name)
        return found

    await until(left, lambda count: count == 0)


async def test_backups_are_verified_as_often_as_the_operator_says(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await made_database(client)
    backup = await made_backup(client, source["id"])
    path = f"{DATABASES}/{source['id']}/backups/{backup['id']}"
    assert (backup["verified"], backup["restorable"]) == (None, None)
    assert roost.services.get(Verification).every == timedelta(weeks=1)
    await verifications(roost)
    first = await client.get(path)
    assert first["restorable"] is True
    assert first["verified"] >= backup["created"]
    async with planned(roost, "database_verify"):
        await verifications(roost)
        assert await client.get(path) == first
        week = timedelta(days=8)
        long_ago = datetime.fromisoformat(first["verified"]) - week
        await backup_queries.set_verified(roost.store, backup["id"], long_ago, restorable=True)
        await verifications(roost)
    failed = await client.get(path)
    assert failed["restorable"] is False
    assert failed["verified"] >= first["verified"]
    told = await backup_queries.unrestorable(roost.store, 100)
    assert [row["id"] for row in told] == [backup["id"]]
    assert (await client.get(f"{DATABASES}/{source['id']}"))["status"] == "active"
