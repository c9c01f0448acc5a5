"""StackScripts: the account's own, and public ones of all accounts (reference: StackScript)."""

import hashlib

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json
from tests.support.stackscripts import SCRIPT, STACKSCRIPTS, script_body, scripted

LABEL = "Length must be 3-128 characters"
SHEBANG = "Must begin with a shebang line"


async def actions(client: Client, stackscript_id: int) -> list[str]:
    wanted = {"entity.type": "stackscript", "entity.id": stackscript_id}
    rows = (await client.get("/account/events", filter=wanted))["data"]
    return [str(row["action"]) for row in reversed(rows)]


async def test_create_and_view(client: Client, account: Account) -> None:
    row = await client.post(STACKSCRIPTS, script_body(description="nginx", rev_note="first"))
    digest = hashlib.md5(b"", usedforsecurity=False).hexdigest()
    assert row == {
        "id": row["id"],
        "username": account.username,
        "user_gravatar_id": digest,
        "label": "web",
        "description": "nginx",
        "images": ["roost/debian12", "any/all"],
        "deployments_total": 0,
        "deployments_active": 0,
        "is_public": False,
        "created": row["created"],
        "updated": row["created"],
        "rev_note": "first",
        "script": SCRIPT,
        "user_defined_fields": [{"name": "site", "label": "Name of the site", "default": "a"}],
        "mine": True,
        "ordinal": 0,
        "logo_url": "",
    }
    assert await client.get(f"{STACKSCRIPTS}/{row['id']}") == row
    assert await actions(client, row["id"]) == ["stackscript_create"]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"label": None}, [("label", "label is required")]),
        ({"label": "ab"}, [("label", LABEL)]),
        ({"label": "a" * 129}, [("label", LABEL)]),
        ({"images": None}, [("images", "images is required")]),
        ({"images": []}, [("images", "Length must be 1-100 items")]),
        ({"images": ["any/all"] * 101}, [("images", "Length must be 1-100 items")]),
        ({"images": ["any/all", "roost/none"]}, [("images[1]", "images is not valid")]),
        ({"images": [7]}, [("images[0]", "Must be a string")]),
        ({"script": None}, [("script", "script is required")]),
        ({"script": ""}, [("script", "Length must be 1-65535 characters")]),
        ({"script": "#!" + "x" * 65_534}, [("script", "Length must be 1-65535 characters")]),
        ({"script": "echo"}, [("script", SHEBANG)]),
        ({"description": "x" * 4097}, [("description", "Length must be 0-4096 characters")]),
        ({"is_public": 1}, [("is_public", "Must be true or false")]),
        ({"rev_note": "x" * 513}, [("rev_note", "Length must be 0-512 characters")]),
        (
            {"label": "", "script": "x"},
            [("label", LABEL), ("script", SHEBANG)],
        ),
    ],
)
async def test_what_is_refused(
    client: Client, changes: Json, problems: list[tuple[str, str]]
) -> None:
    answer = await client.send("POST", STACKSCRIPTS, {**script_body(), **changes})
    assert (answer.status, answer.problems) == (400, problems)
    assert (await client.get(STACKSCRIPTS, filter={"mine": True}))["results"] == 0


async def test_update_tells_what_changed(client: Client) -> None:
    row = await scripted(client)
    path = f"{STACKSCRIPTS}/{row['id']}"
    assert await client.put(path, {}) == row
    assert await client.put(path, row) == row
    renamed = await client.put(path, {"label": "other", "rev_note": "renamed"})
    assert (renamed["label"], renamed["script"]) == ("other", SCRIPT)
    revised = await client.put(path, {"script": "#!/bin/sh\n", "images": ["any/all"]})
    assert (revised["user_defined_fields"], revised["images"]) == ([], ["any/all"])
    assert (await client.put(path, {"is_public": True, "script": "#!/bin/sh\n"}))["is_public"]
    assert await actions(client, row["id"]) == [
        "stackscript_create",
        "stackscript_update",
        "stackscript_update",
        "stackscript_revise",
        "stackscript_publicize",
    ]
    answer = await client.send("PUT", path, {"is_public": False, "label": "back"})
    assert answer.problems == [("is_public", "A public StackScript cannot become private")]
    assert (await client.get(path))["label"] == "other"


async def test_only_private_ones_are_deleted(client: Client) -> None:
    path = f"{STACKSCRIPTS}/{(await scripted(client))['id']}"
    await client.delete(path)
    assert (await client.send("GET", path)).status == 404
    row = await scripted(client, is_public=True)
    answer = await client.send("DELETE", f"{STACKSCRIPTS}/{row['id']}")
    assert answer.problems == [(None, "A public StackScript cannot be deleted")]
    assert await client.get(f"{STACKSCRIPTS}/{row['id']}") == row


async def test_public_ones_are_everybodys_to_see(
    client: Client, stranger: Client, nobody: Client
) -> None:
    private = f"{STACKSCRIPTS}/{(await scripted(client))['id']}"
    row = await scripted(client, is_public=True)
    public = f"{STACKSCRIPTS}/{row['id']}"
    for other in (stranger, nobody):
        assert await other.get(public) == {**row, "mine": False}
        assert (await other.send("GET", private)).status == 404
    for method in ("PUT", "DELETE"):
        assert (await stranger.send(method, public, {})).status == 404
        assert (await nobody.send(method, public, {})).status == 401
    listed = (await stranger.get(STACKSCRIPTS, filter={"is_public": True}))["data"]
    assert row["id"] in [each["id"] for each in listed]
    assert (await stranger.get(STACKSCRIPTS, filter={"mine": True}))["data"] == []


async def test_a_stranger_has_none_that_are_theirs(nobody: Client) -> None:
    answer = await nobody.send("GET", STACKSCRIPTS, headers={"X-Filter": '{"mine": true}'})
    assert answer.status == 401
    assert answer.problems == [(None, "You must be authenticated to find your StackScripts.")]
    nested = '{"+and": [{"label": "x"}, {"+or": [{"mine": false}]}]}'
    answer = await nobody.send("GET", STACKSCRIPTS, headers={"X-Filter": nested})
    assert answer.status == 401


async def test_a_token_that_may_not_read_them_sees_public_ones(
    client: Client, nobody: Client, new_token: NewToken, account: Account
) -> None:
    private = (await scripted(client))["id"]
    public = (await scripted(client, is_public=True))["id"]
    blind = nobody.as_user(await new_token(account, "volumes:read_only"))
    found = {row["id"] for row in (await blind.get(STACKSCRIPTS, filter={"label": "web"}))["data"]}
    assert public in found
    assert private not in found


async def test_restricted_users_see_what_is_granted(
    client: Client,
    nobody: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    user = await new_user(account, restricted=True)
    restricted = nobody.as_user(await new_token(user))
    granted, other = (await scripted(client))["id"], (await scripted(client))["id"]
    public = (await scripted(client, is_public=True))["id"]
    await give(roost.store, user.user_id, "stackscript", granted, "read_only")
    rows = (await restricted.get(STACKSCRIPTS, filter={"mine": True}))["data"]
    assert [row["id"] for row in rows] == [granted, public]
    assert (await restricted.send("GET", f"{STACKSCRIPTS}/{other}")).status == 404
    assert (await restricted.send("PUT", f"{STACKSCRIPTS}/{granted}", {})).status == 403
    assert (await restricted.send("POST", STACKSCRIPTS, script_body())).status == 403
    await give(roost.store, user.user_id, "stackscript", granted, "read_write")
    assert (await restricted.put(f"{STACKSCRIPTS}/{granted}", {"label": "mine"}))["label"] == "mine"
    grants = await client.get(f"/account/users/{user.username}/grants")
    assert grants["stackscript"] == [
        {"id": granted, "label": "mine", "permissions": "read_write"},
        {"id": other, "label": "web", "permissions": None},
        {"id": public, "label": "web", "permissions": None},
    ]
