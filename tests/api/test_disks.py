"""Disks of instances over HTTP (reference: Disk, operations)."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.resources.compute.disks.queries import find
from roost.resources.compute.disks.records import SealedSetup
from roost.secrets import Box
from tests.support.client import Client
from tests.support.disks import engine_of, events, path_of, powered, quiet, roomy, running
from tests.support.instances import INSTANCES, PASSWORD, create_body, made
from tests.support.keys import KEY
from tests.support.volumes import paused

IN_USE = "The disk is in use: shut the Compute down first."


@pytest.mark.spec("B compute 2")
async def test_an_image_gives_a_disk_and_a_swap(client: Client) -> None:
    path = path_of(await made(client))
    page = await client.get(f"{path}/disks")
    [root, swap] = page["data"]
    assert root == {
        "id": root["id"],
        "label": "Debian 12 Disk",
        "status": "ready",
        "size": 25088,
        "filesystem": "ext4",
        "created": root["created"],
        "updated": root["updated"],
    }
    assert (swap["label"], swap["size"], swap["filesystem"]) == ("512 MB Swap Image", 512, "swap")
    assert await client.get(f"{path}/disks/{root['id']}") == root
    found = await client.get(f"{path}/disks", filter={"label": "512 MB Swap Image"})
    assert found["data"] == [swap]
    assert (await client.get(f"{path}/disks", filter={"size": {"+gt": 600}}))["data"] == [root]


async def test_disks_are_not_ready_while_they_are_made(client: Client, roost: Roost) -> None:
    async with paused(roost, "disk_make"):
        path = path_of(await client.post(INSTANCES, create_body()))
        statuses = {disk["status"] for disk in (await client.get(f"{path}/disks"))["data"]}
        answer = await client.send("POST", f"{path}/rescue", {})
    assert statuses == {"not ready"}
    assert answer.problems == [(None, "Compute busy.")]
    await quiet(client, path)


async def test_an_instance_without_an_image_has_none(client: Client) -> None:
    row = await client.post(INSTANCES, {"type": "g1-nano-1", "region": "us-lake"})
    await quiet(client, path_of(row))
    assert (await client.get(f"{path_of(row)}/disks"))["data"] == []
    assert (await client.get(f"{path_of(row)}/configs"))["data"] == []


@pytest.mark.parametrize("filesystem", ["raw", "swap", "ext3", "ext4", "initrd"])
async def test_create_an_empty_one(client: Client, roost: Roost, filesystem: str) -> None:
    path, _ = await roomy(client)
    body = {"label": "data", "size": 100, "filesystem": filesystem}
    disk = await client.post(f"{path}/disks", body)
    assert {key: disk[key] for key in body} == body
    assert disk["status"] == "not ready"
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("disk_create", "finished")
    assert event["entity"]["url"] == f"/v4{path}"
    assert event["secondary_entity"] == {
        "id": disk["id"],
        "label": "data",
        "type": "disk",
        "url": f"/v4{path}/disks/{disk['id']}",
    }
    compute_id = int(path.rpartition("/")[2])
    assert (await client.get(f"{path}/disks/{disk['id']}"))["status"] == "ready"
    assert await engine_of(roost).disks.read(compute_id, disk["id"]) == f"empty {filesystem}"


async def test_create_from_an_image(client: Client, roost: Roost) -> None:
    path, _ = await roomy(client)
    body = {"image": "roost/debian12", "size": 1800, "root_pass": PASSWORD}
    disk = await client.post(f"{path}/disks", {**body, "authorized_keys": [KEY]})
    assert (disk["label"], disk["filesystem"]) == ("Debian 12 Disk", "ext4")
    await quiet(client, path)
    row = await find(roost.store, int(path.rpartition("/")[2]), disk["id"])
    assert row is not None
    assert row.setup is not None
    setup = SealedSetup.unseal(roost.services.get(Box), row.setup)
    assert (setup.root_pass, setup.authorized_keys) == (None, [KEY])
    assert (setup.root_password_hash or "").startswith("$6$")


async def test_the_plan_has_room_for_so_much(client: Client) -> None:
    path, [root, swap] = await roomy(client)
    free = 25600 - root["size"] - swap["size"]
    reason = f"Insufficient space for this disk: {free} MB of 25600 MB are free"
    answer = await client.send("POST", f"{path}/disks", {"label": "big", "size": free + 1})
    assert answer.problems == [("size", reason)]
    body = {"size": root["size"] + free + 1}
    answer = await client.send("POST", f"{path}/disks/{root['id']}/resize", body)
    assert answer.problems == [("size", reason)]
    await client.post(f"{path}/disks", {"label": "big", "size": free})
    await quiet(client, path)
    answer = await client.send("POST", f"{path}/disks/{swap['id']}/clone")
    full = "Insufficient space for this disk: 0 MB of 25600 MB are free"
    assert answer.problems == [(None, full)]
    await client.post(f"{path}/disks/{root['id']}/resize", {"size": 3000})
    await quiet(client, path)
    assert sum(disk["size"] for disk in (await client.get(f"{path}/disks"))["data"]) == 24600


async def test_update(client: Client) -> None:
    path = path_of(await made(client))
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    one = f"{path}/disks/{root['id']}"
    changed = await client.put(one, {**root, "label": "main", "size": 1})
    assert {**changed, "updated": ""} == {**root, "label": "main", "updated": ""}
    event = (await events(client, path))[0]
    assert (event["action"], event["status"]) == ("disk_update", "notification")
    assert event["secondary_entity"]["label"] == "main"
    assert (await client.put(one, {}))["label"] == "main"


@pytest.mark.parametrize("size", [25088 + 0, 20000, 1800])
async def test_resize(client: Client, roost: Roost, size: int) -> None:
    row = await made(client)
    path = path_of(row)
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    assert await client.post(f"{path}/disks/{root['id']}/resize", {"size": size}) == {}
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("disk_resize", "finished")
    disk = await client.get(f"{path}/disks/{root['id']}")
    assert (disk["size"], disk["status"]) == (size, "ready")
    state = await engine_of(roost).disks.inspect(row["id"], root["id"])
    assert state is not None
    assert state.size == size


async def test_resize_below_what_it_holds(client: Client, roost: Roost) -> None:
    row = await made(client)
    path = path_of(row)
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    await engine_of(roost).disks.write(row["id"], root["id"], "films", 9000)
    await client.post(f"{path}/disks/{root['id']}/resize", {"size": 8000})
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("disk_resize", "failed")
    assert event["message"] == "The disk could not be resized: what it holds needs more room"
    disk = await client.get(f"{path}/disks/{root['id']}")
    assert (disk["size"], disk["status"]) == (25088, "ready")


async def test_one_in_use_is_resized_in_vain(client: Client) -> None:
    path = await running(client)
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    assert await client.post(f"{path}/disks/{root['id']}/resize", {"size": 8000}) == {}
    event = await quiet(client, path)
    assert (event["status"], event["message"]) == (
        "failed",
        "The disk could not be resized: the instance runs with it",
    )
    disk = await client.get(f"{path}/disks/{root['id']}")
    assert (disk["size"], disk["status"]) == (25088, "ready")
    assert (await client.get(path))["status"] == "running"


async def test_clone(client: Client, roost: Roost) -> None:
    path, [root, _] = await roomy(client)
    compute_id = int(path.rpartition("/")[2])
    await engine_of(roost).disks.write(compute_id, root["id"], "films", 900)
    copy = await client.post(f"{path}/disks/{root['id']}/clone")
    assert (copy["label"], copy["size"]) == ("Copy of Debian 12 Disk", root["size"])
    assert (copy["status"], copy["filesystem"]) == ("not ready", "ext4")
    event = await quiet(client, path)
    assert (event["action"], event["secondary_entity"]["id"]) == ("disk_duplicate", copy["id"])
    assert await engine_of(roost).disks.read(compute_id, copy["id"]) == "films"
    again = await client.post(f"{path}/disks/{copy['id']}/clone")
    assert again["label"] == "Copy of Copy of Debian 12 Disk"
    await quiet(client, path)


async def test_clone_that_fails_leaves_nothing(client: Client, roost: Roost) -> None:
    path, [root, swap] = await roomy(client)
    plan = engine_of(roost).plan
    await plan.fail("disk_copy", "The host has no room left")
    try:
        copy = await client.post(f"{path}/disks/{root['id']}/clone")
        event = await quiet(client, path)
    finally:
        await plan.mend("disk_copy")
    assert (event["status"], event["message"]) == ("failed", "The host has no room left")
    assert (await client.get(f"{path}/disks"))["data"] == [root, swap]
    assert (await client.send("GET", f"{path}/disks/{copy['id']}")).status == 404


async def test_delete(client: Client, roost: Roost) -> None:
    row = await made(client)
    path = path_of(row)
    [root, swap] = (await client.get(f"{path}/disks"))["data"]
    assert await client.delete(f"{path}/disks/{swap['id']}") == {}
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("disk_delete", "finished")
    assert (await client.get(f"{path}/disks"))["data"] == [root]
    assert await engine_of(roost).disks.inspect(row["id"], swap["id"]) is None
    [config] = (await client.get(f"{path}/configs"))["data"]
    assert config["devices"]["sda"] == {"disk_id": root["id"], "volume_id": None}
    assert config["devices"]["sdb"] is None


async def test_delete_while_it_is_in_use(client: Client) -> None:
    path = await running(client)
    [root, swap] = (await client.get(f"{path}/disks"))["data"]
    for disk in (root, swap):
        answer = await client.send("DELETE", f"{path}/disks/{disk['id']}")
        assert answer.problems == [(None, IN_USE)]
    [config] = (await client.get(f"{path}/configs"))["data"]
    body = {"devices": {"sda": config["devices"]["sda"]}}
    await client.put(f"{path}/configs/{config['id']}", body)
    await client.delete(f"{path}/disks/{swap['id']}")
    event = await quiet(client, path)
    assert event["message"] == "The disk could not be deleted: the instance runs with it"
    assert (await client.get(f"{path}/disks/{swap['id']}"))["status"] == "ready"
    await powered(client, path, "reboot")
    await client.delete(f"{path}/disks/{swap['id']}")
    assert (await quiet(client, path))["status"] == "finished"


async def test_the_password_of_a_disk(client: Client, roost: Roost) -> None:
    row = await made(client)
    path = path_of(row)
    [root, swap] = (await client.get(f"{path}/disks"))["data"]
    before = await find(roost.store, row["id"], root["id"])
    body = {"password": "another-Horse8battery"}
    assert await client.post(f"{path}/disks/{root['id']}/password", body) == {}
    after = await find(roost.store, row["id"], root["id"])
    assert before is not None
    assert after is not None
    assert before.setup is not None
    assert after.setup is not None
    assert after.password_revision == before.password_revision + 1
    box = roost.services.get(Box)
    old, new = SealedSetup.unseal(box, before.setup), SealedSetup.unseal(box, after.setup)
    assert (new.root_password_hash or "").startswith("$6$")
    assert new.root_password_hash != old.root_password_hash
    event = (await events(client, path))[0]
    assert (event["action"], event["secondary_entity"]["id"]) == ("password_reset", root["id"])
    answer = await client.send("POST", f"{path}/disks/{swap['id']}/password", body)
    assert answer.problems == [(None, "A disk of this file system has no root password.")]
    await powered(client, path, "boot")
    answer = await client.send("POST", f"{path}/disks/{root['id']}/password", body)
    assert answer.problems == [(None, IN_USE)]


async def test_only_one_change_at_a_time(client: Client) -> None:
    path, [root, swap] = await roomy(client)
    answers = await asyncio.gather(
        client.send("POST", f"{path}/disks", {"label": "one", "size": 100}),
        client.send("POST", f"{path}/disks/{root['id']}/resize", {"size": 5000}),
        client.send("POST", f"{path}/disks/{swap['id']}/clone"),
        client.send("DELETE", f"{path}/disks/{swap['id']}"),
        client.send("POST", f"{path}/boot", {}),
    )
    refused = [answer.problems for answer in answers if answer.status != 200]
    assert len(refused) < len(answers)
    # The swap is gone for the clone that comes after its deletion.
    assert {problems[0][1] for problems in refused} <= {"The disk is not ready.", "Not found"}
    await quiet(client, path)
    for disk in (await client.get(f"{path}/disks"))["data"]:
        assert disk["status"] == "ready"


async def test_events_of_disks_are_found_by_their_type(client: Client) -> None:
    path, [root, _] = await roomy(client)
    await client.put(f"{path}/disks/{root['id']}", {"label": "renamed"})
    compute_id = int(path.rpartition("/")[2])

    async def actions(wanted: object) -> list[str]:
        filters = {"entity.id": compute_id, "entity.type": wanted}
        return [e["action"] for e in (await client.get("/account/events", filter=filters))["data"]]

    assert await actions("disks") == ["disk_update", "disk_resize"]
    assert await actions({"+neq": "disks"}) == ["compute_create"]
    assert len(await actions("compute")) == 3


async def test_an_update_that_changes_nothing(client: Client) -> None:
    path, [root, _] = await roomy(client)
    before = len(await events(client, path))
    assert await client.put(f"{path}/disks/{root['id']}", {"label": root["label"]}) == root
    assert len(await events(client, path)) == before


async def test_what_is_not_there(client: Client, stranger: Client) -> None:
    path, other = path_of(await made(client)), path_of(await made(client))
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    for who, where in ((client, other), (stranger, path), (client, f"{INSTANCES}/999999999")):
        one = f"{where}/disks/{root['id']}"
        for method, target, body in (
            ("GET", one, None),
            ("PUT", one, {}),
            ("DELETE", one, None),
            ("POST", f"{one}/clone", None),
            ("POST", f"{one}/resize", {"size": 5}),
            ("POST", f"{one}/password", {"password": PASSWORD}),
        ):
            assert (await who.send(method, target, body)).status == 404, (method, target)
    assert (await stranger.send("GET", f"{path}/disks")).status == 404
    assert (await stranger.send("POST", f"{path}/disks", {"label": "x", "size": 5})).status == 404
