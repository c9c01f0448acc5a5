"""Clones of instances: what is copied, where to, and what else may happen meanwhile."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Answer, Client, Json, until
from tests.support.disks import engine_of, events, path_of, powered, quiet, roomy, running
from tests.support.instances import INSTANCES, held, made, settled
from tests.support.volumes import attached, failing, made_volume, paused

NEW: Json = {"region": "us-lake", "type": "g1-nano-1"}
BUSY = (None, "Compute busy.")


async def disks_of(client: Client, path: str) -> list[tuple[str, str, int, str]]:
    rows = (await client.get(f"{path}/disks"))["data"]
    return [(row["label"], row["filesystem"], row["size"], row["status"]) for row in rows]


async def marked(client: Client, roost: Roost, path: str, content: str) -> None:
    """Write to the first disk."""
    [disk, *_] = (await client.get(f"{path}/disks"))["data"]
    compute_id = int(path.rpartition("/")[2])
    await engine_of(roost).disks.write(compute_id, disk["id"], content, 8)


async def content(client: Client, roost: Roost, path: str) -> list[str]:
    disks = (await client.get(f"{path}/disks"))["data"]
    compute_id = int(path.rpartition("/")[2])
    return [await engine_of(roost).disks.read(compute_id, disk["id"]) for disk in disks]


async def guests_without_row(roost: Roost) -> set[int]:
    """Of all accounts: other tests may have left some."""
    rows = await roost.store.fetch("select id from compute_instance")
    return {state.id for state in await engine_of(roost).list()} - {row["id"] for row in rows}


async def clone(client: Client, path: str, **body: object) -> Answer:
    return await client.send("POST", f"{path}/clone", body)


async def test_to_a_new_instance(client: Client, roost: Roost) -> None:
    path = await running(client, tags=["blue"], interfaces=[{"purpose": "public"}])
    await marked(client, roost, path, "pages")
    volume = await made_volume(client)
    await attached(client, volume["id"], int(path.rpartition("/")[2]))
    async with paused(roost, "disk_copy"):
        row = await client.post(f"{path}/clone", {**NEW, "label": "twin", "private_ip": True})
        target = path_of(row)
        assert (row["status"], (await client.get(path))["status"]) == ("cloning", "cloning")
    await quiet(client, path)
    source, copy = await client.get(path), await client.get(target)
    assert (source["status"], copy["status"]) == ("running", "offline")
    assert (copy["label"], copy["tags"], copy["image"]) == ("twin", ["blue"], "roost/debian12")
    assert len(copy["ipv4"]) == 2
    assert not {*copy["ipv4"]} & {*source["ipv4"]}
    assert await disks_of(client, target) == await disks_of(client, path)
    assert await content(client, roost, target) == ["pages", "empty swap"]
    [config] = (await client.get(f"{target}/configs"))["data"]
    [origin] = (await client.get(f"{path}/configs"))["data"]
    own = [disk["id"] for disk in (await client.get(f"{target}/disks"))["data"]]
    devices = [device and device["disk_id"] for device in config["devices"].values()]
    assert devices == [*own, *[None] * 6]
    same = ("label", "kernel", "helpers", "root_device", "run_level")
    assert {key: config[key] for key in same} == {key: origin[key] for key in same}
    assert [each["purpose"] for each in config["interfaces"]] == ["public"]
    event = (await events(client, path))[0]
    assert (event["action"], event["status"]) == ("compute_clone", "finished")
    assert (event["entity"]["id"], event["secondary_entity"]["id"]) == (source["id"], copy["id"])
    assert event["percent_complete"] == 100
    assert (await powered(client, target, "boot"))["status"] == "running"


async def test_to_another_instance(client: Client, roost: Roost) -> None:
    """What it has stays."""
    path = path_of(await made(client))
    target, before = await roomy(client, type="g1-standard-1")
    await powered(client, target, "boot")
    await marked(client, roost, path, "pages")
    row = await client.post(f"{path}/clone", {"compute_id": int(target.rpartition("/")[2])})
    assert path_of(row) == target
    await quiet(client, path)
    assert (await settled(client, row["id"]))["status"] == "running"
    assert (await client.get(path))["status"] == "offline"
    disks = (await client.get(f"{target}/disks"))["data"]
    assert [disk["id"] for disk in disks[:2]] == [disk["id"] for disk in before]
    assert (await content(client, roost, target))[2:] == ["pages", "empty swap"]
    configs = (await client.get(f"{target}/configs"))["data"]
    sda = [config["devices"]["sda"]["disk_id"] for config in configs]
    assert sda == [disks[0]["id"], disks[2]["id"]]


async def test_some_of_it(client: Client) -> None:
    """The configs that are named come with their disks; other disks come when they are named."""
    path, [root, swap] = await roomy(client)
    body = {"label": "data", "size": 10}
    extra = await client.post(f"{path}/disks", body)
    await quiet(client, path)
    devices = {"sda": {"disk_id": root["id"]}}
    config = await client.post(f"{path}/configs", {"label": "bare", "devices": devices})

    async def labels(**chosen: object) -> tuple[list[str], list[str]]:
        row = await client.post(f"{path}/clone", {**NEW, **chosen})
        await quiet(client, path)
        disks = (await client.get(f"{path_of(row)}/disks"))["data"]
        configs = (await client.get(f"{path_of(row)}/configs"))["data"]
        return [disk["label"] for disk in disks], [each["label"] for each in configs]

    profile = "My Debian 12 Disk Profile"
    both = [root["label"], swap["label"]]
    assert await labels() == (both, [profile, "bare"])
    assert await labels(configs=[config["id"]]) == ([root["label"]], ["bare"])
    disks, _ = await labels(disks=[extra["id"]])
    assert disks == [*both, "data"]
    assert await labels(configs=[], disks=[extra["id"], extra["id"]]) == (["data"], [])
    assert await labels(configs=[]) == ([], [])


async def test_five_at_once(client: Client, roost: Roost) -> None:
    """Until then nothing else can be done to the source, nor to what is being made."""
    path, spare = await running(client), path_of(await made(client))
    async with paused(roost, "disk_copy"):
        targets = [await client.post(f"{path}/clone", NEW) for _ in range(5)]
        answer = await clone(client, path, **NEW)
        reason = "Compute cannot be cloned more than 5 times at once."
        assert (answer.status, answer.problems) == (400, [(None, reason)])
        for method, refused in (
            ("POST", f"{path}/rescue"),
            ("DELETE", path),
            ("DELETE", path_of(targets[0])),
            ("POST", f"{path_of(targets[0])}/rescue"),
        ):
            answer = await client.send(method, refused, {})
            assert (answer.status, answer.problems) == (400, [BUSY]), refused
        answer = await clone(client, spare, compute_id=targets[0]["id"])
        assert answer.problems == [BUSY]
        assert (await clone(client, path_of(targets[0]), **NEW)).problems == [BUSY]
    await quiet(client, path)
    rows = [await settled(client, row["id"]) for row in targets]
    assert {row["status"] for row in rows} == {"offline"}
    assert (await settled(client, int(path.rpartition("/")[2])))["status"] == "running"


@pytest.mark.usefixtures("quick_retries")
async def test_a_clone_that_fails(client: Client, roost: Roost, account: Account) -> None:
    """Nothing of it stays."""
    path = await running(client)
    other, before = await roomy(client, type="g1-standard-1")
    counts, rows = await held(roost, account.id), await client.get(other)
    unowned = await guests_without_row(roost)
    async with failing(roost, "disk_copy", "The host has no room"):
        for body in (NEW, {"compute_id": rows["id"]}):
            await client.post(f"{path}/clone", body)
        await quiet(client, path)
    ends = [(e["action"], e["status"], e["message"]) for e in (await events(client, path))[:2]]
    assert ends == [("compute_clone", "failed", "The host has no room")] * 2
    assert (await client.get(other))["status"] == "offline"
    assert (await client.get(path))["status"] == "running"
    after = await held(roost, account.id)
    same = ("instances", "addresses")
    assert {key: after[key] for key in same} == {key: counts[key] for key in same}
    assert (await client.get(f"{other}/disks"))["data"] == before
    assert len((await client.get(f"{other}/configs"))["data"]) == 1
    assert len((await client.get(INSTANCES))["data"]) == 2
    assert await guests_without_row(roost) <= unowned


async def test_user_data(client: Client) -> None:
    """They come along to a new instance, or are replaced; another one cannot be given any."""
    path = path_of(await made(client, metadata={"user_data": "eA=="}))
    other = await made(client, type="g1-standard-1")
    answer = await clone(client, path, compute_id=other["id"])
    reason = "A Compute with user data can only be cloned to a new Compute"
    assert answer.problems == [("compute_id", reason)]
    for more in ({}, {"metadata": {"user_data": "eQ=="}}):
        assert (await clone(client, path, **NEW, **more)).body["has_user_data"] is True
        await quiet(client, path)
    without = await clone(client, path, **NEW, metadata={"user_data": ""})
    assert without.body["has_user_data"] is False
    bare = path_of(await made(client, image=None, root_pass=None, booted=None))
    answer = await clone(client, bare, **NEW, metadata={"user_data": "eQ=="})
    reason = "user_data needs an image with the cloud-init capability"
    assert answer.problems == [("metadata.user_data", reason)]


async def test_where_it_cannot_go(client: Client, stranger: Client, roost: Roost) -> None:
    instance = await made(client)
    path = path_of(instance)
    far, full = await made(client, region="br-south"), await made(client)
    others = await made(stranger)
    for compute_id, field, reason in (
        (instance["id"], "compute_id", "Must be another Compute"),
        (far["id"], "compute_id", "Must be in the region of the Compute that is cloned"),
        (others["id"], "compute_id", "compute_id is not valid"),
        (full["id"], None, "Insufficient space for this disk: 0 MB of 25600 MB are free"),
    ):
        answer = await clone(client, path, compute_id=compute_id)
        assert (answer.status, answer.problems) == (400, [(field, reason)])
    answer = await clone(client, path, **NEW, label=instance["label"])
    assert answer.problems == [("label", "Label must be unique among your computes")]
    assert (await clone(stranger, path, **NEW)).status == 404
    async with paused(roost, "start"):
        await client.post(f"{path_of(full)}/boot", {})
        answer = await clone(client, path, compute_id=full["id"])
        assert answer.problems == [BUSY]
        assert (await clone(client, path_of(full), **NEW)).problems == [BUSY]
    await quiet(client, path_of(full))


async def test_rights(
    nobody: Client,
    client: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    """To change the source and to make instances; for another one also to change that."""
    source, other = await made(client), await made(client, type="g1-standard-2")
    user = await new_user(account, restricted=True)
    await client.put(f"/account/users/{user.username}/grants", {"global": {"add_computes": True}})
    limited, path = nobody.as_user(await new_token(user)), path_of(source)
    assert (await clone(limited, path, **NEW)).status == 403
    await give(roost.store, user.user_id, "compute", source["id"], "read_only")
    refused = await clone(limited, path, **NEW)
    assert (refused.status, refused.problems) == (403, [(None, "Unauthorized")])
    await give(roost.store, user.user_id, "compute", source["id"], "read_write")
    row = (await clone(limited, path, **NEW)).body
    await quiet(client, path)
    assert (await limited.get(path_of(row)))["status"] == "offline"
    body = {"compute_id": other["id"], "configs": []}
    assert (await clone(limited, path, **body)).status == 403
    await give(roost.store, user.user_id, "compute", other["id"], "read_write")
    assert (await clone(limited, path, **body)).status == 200
    await quiet(client, path)


@pytest.mark.parametrize("rival", ["clone", "delete", "boot", "rebuild"])
async def test_races(client: Client, roost: Roost, rival: str) -> None:
    """One of two calls at once wins; a boot may also follow."""
    one, two = await roomy(client, type="g1-standard-1"), await roomy(client, type="g1-standard-1")
    ids = [int(path.rpartition("/")[2]) for path, _ in (one, two)]
    rivals = {
        "clone": ("POST", f"{two[0]}/clone", {"compute_id": ids[0]}),
        "delete": ("DELETE", two[0], None),
        "boot": ("POST", f"{two[0]}/boot", {}),
        "rebuild": (
            "POST",
            f"{one[0]}/rebuild",
            {"image": "roost/debian12", "root_pass": "x7-Tangerine"},
        ),
    }
    async with paused(roost, "disk_copy", "delete", "start", "disk_delete"):
        answers = await asyncio.gather(
            clone(client, one[0], compute_id=ids[1]), client.send(*rivals[rival])
        )
    lost = [answer for answer in answers if answer.status != 200]
    assert len(lost) == 1 or (rival == "boot" and not lost)
    assert all((each.status, each.problems) == (400, [BUSY]) for each in lost)
    await quiet(client, one[0])
    await quiet(client, two[0])
    rows = (await client.get(INSTANCES))["data"]
    assert {row["status"] for row in rows} <= {"running", "offline"}
    await until(lambda: client.get(INSTANCES), lambda page: page["results"] in (1, 2))
