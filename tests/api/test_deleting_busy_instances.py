"""An instance can be deleted while a job works on it, and nothing of it or of the job is left."""

import pytest

from roost.app.roost import Roost
from roost.engines.simulated.plane import Operation
from tests.support.client import Client, Json, until
from tests.support.disks import engine_of, events, quiet, roomy
from tests.support.drift import drift
from tests.support.instances import INSTANCES, PASSWORD
from tests.support.volumes import attached, made_volume, paused, rested

BUSY = [(None, "Compute busy.")]
REBUILD: Json = {"image": "roost/debian12", "root_pass": PASSWORD}


async def gone(client: Client, roost: Roost, path: str) -> None:
    """From the API, the data plane, and all events and jobs."""
    compute_id = int(path.rpartition("/")[2])
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    await quiet(client, path)
    assert await engine_of(roost).inspect(compute_id) is None
    known = {row["id"] for row in await roost.store.fetch("select id from compute_backup")}
    assert {state.id for state in await engine_of(roost).backups.list()} <= known
    unfinished = "select count(*) from job where resource = $1 and finished is null"
    assert await roost.store.fetchval(unfinished, f"compute:{compute_id}") == 0
    assert await drift(roost, f"instance {compute_id}") == []


@pytest.mark.parametrize(
    ("operation", "action", "body"),
    [
        ("backup_save", "backups", {"label": "snapshot"}),
        ("backup_delete", "backups/cancel", None),
        ("disk_make", "disks", {"size": 10, "label": "more"}),
        ("disk_delete", "disks/{swap}", None),
        ("disk_copy", "disks/{root}/clone", None),
        ("disk_resize", "disks/{root}/resize", {"size": 4100}),
        ("disk_delete", "rebuild", REBUILD),
        ("disk_make", "rebuild", REBUILD),
        ("disk_resize", "resize", {"type": "g1-standard-1"}),
        ("start", "rescue", {}),
        ("start", "boot", {}),
    ],
)
async def test_while(
    client: Client, roost: Roost, operation: Operation, action: str, body: Json
) -> None:
    path, [root, swap] = await roomy(client)
    volume = await made_volume(client)
    await attached(client, volume["id"], int(path.rpartition("/")[2]))
    await client.post(f"{path}/backups/enable")
    await client.post(f"{path}/backups", {"label": "first"})
    await quiet(client, path)
    where = f"{path}/{action.format(root=root['id'], swap=swap['id'])}"
    async with paused(roost, operation):
        method = "DELETE" if action == "disks/{swap}" else "POST"
        assert (await client.send(method, where, body)).status == 200
        await until(lambda: events(client, path), lambda rows: rows[0]["status"] == "started")
        await client.delete(path)
        await until(lambda: events(client, path), lambda rows: rows[1]["status"] == "failed")
    await gone(client, roost, path)
    rows = await events(client, path)
    assert [(row["action"], row["status"]) for row in rows[:1]] == [("compute_delete", "finished")]
    assert rows[1]["status"] == "failed"
    assert rows[1]["message"] == "The instance was deleted."
    assert (await rested(client, volume["id"]))["compute_id"] is None


async def test_while_it_is_made_from_a_backup(client: Client, roost: Roost) -> None:
    source, _ = await roomy(client)
    await client.post(f"{source}/backups/enable")
    backup = await client.post(f"{source}/backups", {"label": "first"})
    await quiet(client, source)
    body = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup["id"]}
    async with paused(roost, "backup_restore"):
        path = f"{INSTANCES}/{(await client.post(INSTANCES, body))['id']}"
        await until(lambda: events(client, path), lambda rows: rows[0]["status"] == "started")
        await client.delete(path)
        await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    await client.delete(source)
    await gone(client, roost, source)
    assert await engine_of(roost).inspect(int(path.rpartition("/")[2])) is None


@pytest.mark.parametrize(
    ("operation", "action"), [("disk_copy", "clone"), ("backup_restore", "restore")]
)
async def test_not_while(client: Client, roost: Roost, operation: Operation, action: str) -> None:
    """Reference: not while cloning or restoring."""
    path, _ = await roomy(client)
    await client.post(f"{path}/backups/enable")
    backup = await client.post(f"{path}/backups", {"label": "first"})
    await quiet(client, path)
    async with paused(roost, operation):
        if action == "clone":
            body: Json = {"region": "us-lake", "type": "g1-nano-1"}
            target = f"{INSTANCES}/{(await client.post(f'{path}/clone', body))['id']}"
        else:
            body = {"compute_id": int(path.rpartition("/")[2]), "overwrite": True}
            await client.post(f"{path}/backups/{backup['id']}/restore", body)
            target = path
        for each in {path, target}:
            assert (await client.send("DELETE", each)).problems == BUSY
    await quiet(client, path)
    for each in {path, target}:
        await client.delete(each)
