"""What a restricted user sees of compute instances and may do with them (spec A, auth rule 4)."""

from dataclasses import dataclass
from datetime import datetime

import pytest

from roost.app.roost import Roost
from roost.resources.maintenance import service
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, create_body, made
from tests.support.keys import KEY

pytestmark = pytest.mark.spec("A auth 4", "B compute 1")

FORBIDDEN = (403, [(None, "Unauthorized")])


@dataclass(frozen=True, slots=True)
class Restricted:
    """A restricted user, and the client of somebody who grants."""

    client: Client
    admin: Client
    path: str

    async def may(self, **grants: Json) -> None:
        """Change their grants."""
        await self.admin.put(self.path, grants)

    async def refused(self, method: str, path: str, body: Json = None) -> bool:
        answer = await self.client.send(method, path, body)
        return answer.status == 403 and (answer.status, answer.problems) == FORBIDDEN


@pytest.fixture
async def user(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> Restricted:
    user = await new_user(account, restricted=True)
    path = f"/account/users/{user.username}/grants"
    return Restricted(nobody.as_user(await new_token(user)), client, path)


def on(row: Json, permissions: str | None) -> Json:
    return [{"id": row["id"], "permissions": permissions}]


async def listed(client: Client) -> list[int]:
    return [row["id"] for row in (await client.get(INSTANCES))["data"]]


async def test_without_a_grant_there_is_nothing(client: Client, user: Restricted) -> None:
    row = await made(client)
    path = f"{INSTANCES}/{row['id']}"
    assert await listed(user.client) == []
    for method, suffix in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/boot"),
        ("POST", "/shutdown"),
        ("POST", "/reboot"),
    ):
        assert await user.refused(method, path + suffix, {} if method != "GET" else None)
    assert await user.refused("POST", INSTANCES, create_body())
    assert await client.get(path) == row


async def test_what_does_not_exist_and_what_is_not_granted_look_alike(
    client: Client, stranger: Client, user: Restricted
) -> None:
    mine, foreign = await made(client), await made(stranger)
    answers = [
        await user.client.send("GET", f"{INSTANCES}/{compute_id}")
        for compute_id in (mine["id"], foreign["id"], 999_999_999)
    ]
    assert {(answer.status, answer.raw) for answer in answers} == {(403, answers[0].raw)}


async def test_read_only(client: Client, user: Restricted) -> None:
    one, two, three = [await made(client) for _ in range(3)]
    await user.may(compute=[*on(one, "read_only"), *on(three, "read_only")])
    assert await listed(user.client) == [one["id"], three["id"]]
    page = await user.client.get(INSTANCES, filter={"label": two["label"]})
    assert (page["results"], page["data"]) == (0, [])
    path = f"{INSTANCES}/{one['id']}"
    assert await user.client.get(path) == one
    assert await user.refused("GET", f"{INSTANCES}/{two['id']}")
    assert await user.refused("PUT", path, {"label": "mine"})
    assert await user.refused("POST", f"{path}/boot", {})
    assert await user.refused("DELETE", path)
    assert await client.get(path) == one


async def test_read_write(client: Client, user: Restricted) -> None:
    one, two = await made(client), await made(client)
    await user.may(compute=on(one, "read_write"))
    path = f"{INSTANCES}/{one['id']}"
    assert (await user.client.put(path, {"label": "theirs"}))["label"] == "theirs"
    assert await user.client.post(f"{path}/boot") == {}
    await until(lambda: user.client.get(path), lambda row: row["status"] == "running")
    assert await user.refused("PUT", f"{INSTANCES}/{two['id']}", {"label": "xyz"})
    assert await user.client.delete(path) == {}
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert await listed(client) == [two["id"]]


async def test_a_grant_that_is_taken_away(client: Client, user: Restricted) -> None:
    row = await made(client)
    await user.may(compute=on(row, "read_write"))
    await user.may(compute=on(row, "read_only"))
    assert await user.refused("PUT", f"{INSTANCES}/{row['id']}", {"label": "mine"})
    await user.may(compute=on(row, None))
    assert await user.refused("GET", f"{INSTANCES}/{row['id']}")


async def test_creating_needs_the_right_and_gives_read_write(
    client: Client, user: Restricted
) -> None:
    await user.may(**{"global": {"add_volumes": True, "account_access": "read_write"}})
    assert await user.refused("POST", INSTANCES, create_body())
    await user.may(**{"global": {"add_computes": True, "account_access": None}})
    row = await made(user.client)
    assert await listed(user.client) == [row["id"]]
    path = f"{INSTANCES}/{row['id']}"
    assert (await user.client.put(path, {"label": "mine"}))["label"] == "mine"
    grants = await client.get(user.path)
    assert [(g["id"], g["permissions"]) for g in grants["compute"]] == [(row["id"], "read_write")]
    await user.may(**{"global": {"add_computes": False}})
    assert await user.client.delete(path) == {}


@pytest.mark.spec("B compute 1 tags")
async def test_tags_are_for_unrestricted_users(client: Client, user: Restricted) -> None:
    row = await made(client)
    add = {"add_computes": True, "account_access": "read_only"}
    await user.may(**{"global": add, "compute": on(row, "read_write")})
    path = f"{INSTANCES}/{row['id']}"
    assert await user.refused("POST", INSTANCES, create_body(tags=["blue"]))
    assert await user.refused("PUT", path, {"tags": ["blue"], "label": "xyz"})
    assert await listed(client) == [row["id"]]
    assert await client.get(path) == row
    assert (await user.client.put(path, {"tags": [], "label": "abc"}))["label"] == "abc"
    await client.put(path, {"tags": ["blue"]})
    assert await user.refused("PUT", path, {"tags": []})
    assert (await client.get(path))["tags"] == ["blue"]


async def test_seen_marks_no_events_that_are_hidden(client: Client, user: Restricted) -> None:
    hidden, granted = await made(client), await made(client)
    await user.may(compute=on(granted, "read_only"))
    newest = (await user.client.get("/account/events"))["data"][0]["id"]
    await user.client.post(f"/account/events/{newest}/seen")
    assert all(event["seen"] for event in (await user.client.get("/account/events"))["data"])
    events = (await client.get("/account/events"))["data"]
    assert not any(event["seen"] for event in events if event["entity"]["id"] == hidden["id"])
    await user.may(**{"global": {"account_access": "read_only"}})
    newest = (await user.client.get("/account/events"))["data"][0]
    assert newest["action"] == "user_update"
    await user.client.post(f"/account/events/{newest['id']}/seen")
    events = (await client.get("/account/events"))["data"]
    unseen = {event["entity"]["id"] for event in events if not event["seen"]}
    assert unseen == {hidden["id"]}


@pytest.mark.spec("B account events grants")
async def test_events_are_those_of_granted_entities(client: Client, user: Restricted) -> None:
    one, two = await made(client), await made(client)
    await client.put("/account", {"phone": "1"})
    assert (await user.client.get("/account/events"))["results"] == 0
    await user.may(compute=on(one, "read_only"))
    page = await user.client.get("/account/events")
    assert {event["entity"]["id"] for event in page["data"]} == {one["id"]}
    assert page["results"] == len(page["data"]) > 0
    everything = (await client.get("/account/events"))["data"]
    hidden = next(e["id"] for e in everything if e["entity"]["id"] == two["id"])
    answer = await user.client.send("GET", f"/account/events/{hidden}")
    assert (answer.status, answer.problems) == (404, [(None, "Not found")])
    await user.may(**{"global": {"account_access": "read_only"}})
    visible = (await user.client.get("/account/events"))["data"]
    actions = {event["action"] for event in visible}
    assert {"account_update", "user_update", "compute_create"} <= actions
    assert {e["entity"]["id"] for e in visible if e["entity"]["type"] == "compute"} == {one["id"]}
    for method, suffix in (("GET", ""), ("POST", "/read"), ("POST", "/seen")):
        answer = await user.client.send(method, f"/account/events/{hidden}{suffix}")
        assert answer.status == 404


@pytest.mark.spec("B account events grants")
async def test_own_acts_are_always_seen(
    client: Client,
    user: Restricted,
    account: Account,
    nobody: Client,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    """Whatever the grants, also under another name; never by who takes the name afterwards."""
    key = await user.client.post("/profile/sshkeys", {"label": "own", "ssh_key": KEY})
    (event,) = (await user.client.get("/account/events"))["data"]
    assert (event["action"], event["entity"]["id"]) == ("user_ssh_key_add", key["id"])
    await client.put(user.path.removesuffix("/grants"), {"username": f"renamed-{account.id}"})
    assert (await user.client.get("/account/events"))["data"] == [event]
    later = await new_user(account, restricted=True)
    await client.put(f"/account/users/{later.username}", {"username": event["username"]})
    assert (await nobody.as_user(await new_token(later)).get("/account/events"))["data"] == []


async def test_what_belongs_to_a_granted_instance_is_seen(client: Client, user: Restricted) -> None:
    rows = [await made(client) for _ in range(2)]
    for row in rows:
        await client.put(f"/networking/ips/{row['ipv4'][0]}", {"rdns": None})
    await user.may(compute=on(rows[0], "read_only"))
    page = await user.client.get("/account/events", filter={"action": "ipaddress_update"})
    (event,) = page["data"]
    assert event["entity"]["label"] == rows[0]["ipv4"][0]
    assert event["secondary_entity"]["id"] == rows[0]["id"]


async def test_notifications_are_of_granted_instances(
    client: Client, user: Restricted, roost: Roost
) -> None:
    one, two = await made(client), await made(client, region="br-south")
    for row in (one, two):
        async with roost.store.transaction() as db:
            await service.schedule(db, row["id"], "reboot", datetime(2126, 12, 1), "a fan")
    await roost.store.execute("update region set status = 'outage' where id = 'br-south'")
    try:
        for compute, expected in (
            (on(one, "read_only"), {one["id"]}),
            (on(two, "read_only"), {one["id"], two["id"], None}),
        ):
            await user.may(**{"global": {"account_access": "read_only"}, "compute": compute})
            rows = (await user.client.get("/account/notifications"))["data"]
            seen = {row["entity"]["id"] for row in rows if row["type"] != "notice"}
            assert seen == expected
    finally:
        await roost.store.execute("update region set status = 'ok' where id = 'br-south'")
