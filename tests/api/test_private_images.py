"""Private images over HTTP (spec A, Images)."""

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.core.limits.queries import set_limit
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute.engine import INSTANCE_PLANE
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.captures import IMAGES, captured, first_disk, image_events
from tests.support.client import Client, until
from tests.support.drift import drift
from tests.support.instances import INSTANCES, PASSWORD, create_body, made, settled
from tests.support.volumes import failing, paused, slow


@pytest.mark.spec(
    "A images create",
    "A images create fields",
    "A images create label",
    "A images 2",
    "A image private",
    "A image record",
)
async def test_an_image_of_a_disk(client: Client, roost: Roost) -> None:
    instance = await made(client)
    disk = await first_disk(client, instance["id"])
    async with paused(roost, "image_capture"):
        row = await client.post(IMAGES, {"disk_id": disk["id"], "cloud_init": True})
        assert row == {
            "id": row["id"],
            "label": disk["label"],
            "description": "",
            "created": row["created"],
            "updated": row["created"],
            "created_by": row["created_by"],
            "deprecated": False,
            "is_public": False,
            "size": 0,
            "type": "manual",
            "expiry": None,
            "eol": None,
            "vendor": None,
            "status": "creating",
            "capabilities": ["cloud-init"],
        }
        refused = await client.send("DELETE", f"{IMAGES}/{row['id']}")
        assert refused.problems == [(None, "Image busy.")]
        body = create_body(image=row["id"])
        refused = await client.send("POST", INSTANCES, body)
        assert refused.problems == [("image", "The image is not available yet")]
    ready = await until(
        lambda: client.get(f"{IMAGES}/{row['id']}"), lambda found: found["status"] == "available"
    )
    assert ready["size"] == disk["size"]
    (event,) = await image_events(client, "disk_imagize")
    assert (event["status"], event["entity"]["id"]) == ("finished", instance["id"])
    assert event["secondary_entity"]["id"] == row["id"]
    listed = (await client.get(IMAGES, filter={"is_public": False}))["data"]
    assert listed == [ready]


@pytest.mark.spec("A images update", "A images update description", "A images delete", "A images 8")
async def test_update_and_delete(client: Client, roost: Roost) -> None:
    row = await captured(client, label="first", description="what it was")
    path = f"{IMAGES}/{row['id']}"
    changed = await client.put(path, {"label": "second", "description": "what it is"})
    assert (changed["label"], changed["description"]) == ("second", "what it is")
    assert await client.put(path, {"label": "second"}) == changed
    assert len(await image_events(client, "image_update")) == 1
    for nothing in (None, ""):
        assert (await client.put(path, {"description": nothing}))["description"] == ""
        await client.put(path, {"description": "what it is"})
    assert await client.delete(path) == {}
    assert (await client.send("GET", path)).status == 404
    assert (await client.send("DELETE", path)).status == 404
    (event,) = await image_events(client, "image_delete")
    assert (event["status"], event["entity"]["id"]) == ("finished", row["id"])
    images = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake").images
    assert int(row["id"].partition("/")[2]) not in await images.list()


@pytest.mark.spec("A images 8")
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_public_images_stay(client: Client, method: str) -> None:
    answer = await client.send(method, f"{IMAGES}/roost/debian12", {})
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    assert (await client.send(method, f"{IMAGES}/roost/none", {})).status == 404
    assert (await client.send(method, f"{IMAGES}/private/0100", {})).status == 404


async def test_instances_and_disks_start_as_it(client: Client) -> None:
    image = (await captured(client, label="mine"))["id"]
    instance = await made(client, image=image, region="br-south")
    assert instance["image"] == image
    disk = await first_disk(client, instance["id"])
    assert disk["label"] == "mine Disk"
    await client.post(
        f"{INSTANCES}/{instance['id']}/rebuild", {"image": image, "root_pass": PASSWORD}
    )
    assert (await settled(client, instance["id"]))["image"] == image
    small = {"image": image, "root_pass": PASSWORD, "size": 8}
    answer = await client.send("POST", f"{INSTANCES}/{instance['id']}/disks", small)
    assert [f for f, _ in answer.problems] == ["size"]
    user_data = {"user_data": "I2Nsb3VkLWNvbmZpZwo="}
    answer = await client.send("POST", INSTANCES, create_body(image=image, metadata=user_data))
    assert [f for f, _ in answer.problems] == ["metadata.user_data"]


async def test_restricted_users_need_a_grant(
    client: Client,
    nobody: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    image = (await captured(client))["id"]
    user = await new_user(account, restricted=True)
    restricted = nobody.as_user(await new_token(user))
    assert (await restricted.send("GET", f"{IMAGES}/{image}")).status == 404
    assert (await restricted.send("POST", IMAGES, {"disk_id": 100001})).status == 403
    number = int(image.partition("/")[2])
    await give(roost.store, user.user_id, "image", number, "read_only")
    assert (await restricted.get(f"{IMAGES}/{image}"))["id"] == image
    listed = await restricted.get(IMAGES, filter={"is_public": False})
    assert [row["id"] for row in listed["data"]] == [image]
    assert (await restricted.send("PUT", f"{IMAGES}/{image}", {})).status == 403
    await give(roost.store, user.user_id, "image", number, "read_write")
    assert (await restricted.put(f"{IMAGES}/{image}", {"label": "mine"}))["label"] == "mine"


@pytest.mark.parametrize("runs", [True, False])
async def test_its_instance_is_deleted_before_it_is_made(
    client: Client, roost: Roost, runs: bool
) -> None:
    """Whether its job runs or waits for another one: nothing is left that is always being made."""
    instance = await made(client)
    disk, path = await first_disk(client, instance["id"]), f"{INSTANCES}/{instance['id']}"
    async with slow(roost, "image_capture" if runs else "start", seconds=20):
        if not runs:
            await client.post(f"{path}/boot", {})
        row = await client.post(IMAGES, {"disk_id": disk["id"]})
        await client.delete(path)
        assert (await client.send("GET", f"{IMAGES}/{row['id']}")).status == 404
        await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
        [event] = await image_events(client, "disk_imagize")
    assert (event["status"], event["message"]) == ("failed", "The instance was deleted.")
    number = row["id"].partition("/")[2]
    sql = "select count(*) from image where number = $1"
    await until(lambda: roost.store.fetchval(sql, int(number)), lambda count: count == 0)
    assert await drift(roost, f"image {number}") == []


async def test_nobody_else_can_use_it(client: Client, stranger: Client) -> None:
    image = (await captured(client))["id"]
    for method in ("GET", "PUT", "DELETE"):
        assert (await stranger.send(method, f"{IMAGES}/{image}", {})).status == 404
    own = await made(stranger)
    body = {"image": image, "root_pass": PASSWORD}
    for path, more in (
        (INSTANCES, create_body(image=image)),
        (f"{INSTANCES}/{own['id']}/rebuild", body),
        (f"{INSTANCES}/{own['id']}/disks", {**body, "size": 30000}),
    ):
        answer = await stranger.send("POST", path, more)
        assert (answer.status, answer.problems) == (400, [("image", "image is not valid")])
    foreign = await first_disk(client, (await made(client))["id"])
    answer = await stranger.send("POST", IMAGES, {"disk_id": foreign["id"]})
    assert answer.problems == [("disk_id", "disk_id is not valid")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "disk_id"),
        ({"disk_id": 0}, "disk_id"),
        ({"disk_id": 999999}, "disk_id"),
        ({"disk_id": "100001"}, "disk_id"),
        ({"disk_id": 2**63}, "disk_id"),
        ({"disk_id": 999999, "label": ""}, "label"),
        ({"disk_id": 999999, "label": "a" * 51}, "label"),
        ({"disk_id": 999999, "description": "a" * 65001}, "description"),
        ({"disk_id": 999999, "cloud_init": "yes"}, "cloud_init"),
    ],
)
async def test_what_is_refused(client: Client, body: dict[str, object], field: str) -> None:
    answer = await client.send("POST", IMAGES, body)
    assert (answer.status, [f for f, _ in answer.problems]) == (400, [field])


async def test_swap_is_no_image(client: Client) -> None:
    instance = await made(client)
    swap = (await client.get(f"{INSTANCES}/{instance['id']}/disks"))["data"][1]
    answer = await client.send("POST", IMAGES, {"disk_id": swap["id"]})
    assert answer.problems == [("disk_id", "A swap disk holds nothing to make an image of")]


async def test_a_disk_that_holds_too_much(client: Client, roost: Roost) -> None:
    instance = await made(client)
    disk = await first_disk(client, instance["id"])
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    assert isinstance(engine, SimulatedInstances)
    await engine.disks.write(instance["id"], disk["id"], "much", 6145)
    row = await client.post(IMAGES, {"disk_id": disk["id"]})
    (event,) = await image_events(client, "disk_imagize")
    assert (event["status"], "6144 MB" in event["message"]) == ("failed", True)
    assert (await client.send("GET", f"{IMAGES}/{row['id']}")).status == 404


async def test_a_fault_leaves_nothing(client: Client, roost: Roost) -> None:
    disk = await first_disk(client, (await made(client))["id"])
    async with failing(roost, "image_capture", "no room"):
        row = await client.post(IMAGES, {"disk_id": disk["id"]})
        (event,) = await image_events(client, "disk_imagize")
    assert (event["status"], "no room" in event["message"]) == ("failed", True)
    assert (await client.send("GET", f"{IMAGES}/{row['id']}")).status == 404
    number = row["id"].partition("/")[2]
    assert await drift(roost, f"image {number}") == []


async def test_the_limit(client: Client, roost: Roost, account: Account) -> None:
    image = await captured(client)
    await set_limit(roost.store, account.id, "images", 1)
    disk = await first_disk(client, (await made(client))["id"])
    answer = await client.send("POST", IMAGES, {"disk_id": disk["id"]})
    assert answer.status == 400
    assert answer.problems[0][1].startswith("You've reached a limit")
    assert [i["id"] for i in (await client.get(IMAGES, filter={"is_public": False}))["data"]] == [
        image["id"]
    ]
