"""Viewing and changing grants over HTTP (reference: Grants)."""

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.errors import ApiError
from roost.resources.tokens.service import StoredTokens
from roost.resources.users.rules import KINDS, RIGHTS
from roost.secrets import hash_token
from roost.web.grants import Grant, Read, Write, require
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made

pytestmark = pytest.mark.spec("A auth 4", "B account 10")

NOTHING = {"account_access": None, **dict.fromkeys(RIGHTS, False), "child_account_access": None}
LEVELS = "Must be one of read_only, read_write"
ID_RANGE = f"Must be 1-{2**63 - 1}"

WRONG_IDS: list[Json] = ["1", 1.5, True, []]

REFUSED: list[tuple[Json, list[tuple[str, str]]]] = [
    ({"global": 5}, [("global", "Must be an object")]),
    ({"global": {"account_access": "all"}}, [("global.account_access", LEVELS)]),
    ({"global": {"account_access": True}}, [("global.account_access", LEVELS)]),
    *(
        ({"global": {right: "yes"}}, [(f"global.{right}", "Must be true or false")])
        for right in (*RIGHTS, "child_account_access")
    ),
    (
        {"global": {"child_account_access": True, "add_images": True}},
        [("global.child_account_access", "Only users of a parent account can have this")],
    ),
    *(({kind: {}}, [(kind, "Must be an array")]) for kind in KINDS),
    *(({kind: [5]}, [(f"{kind}[0]", "Must be an object")]) for kind in KINDS),
    *(
        ({kind: [{"id": 1, "permissions": "read_only"}]}, [(f"{kind}[0].id", "id is not valid")])
        for kind in KINDS
    ),
    (
        {"compute": [{}]},
        [
            ("compute[0].id", "id is required"),
            ("compute[0].permissions", "permissions is required"),
        ],
    ),
    ({"compute": [{"id": 1, "permissions": "write"}]}, [("compute[0].permissions", LEVELS)]),
    *(
        ({"compute": [{"id": number, "permissions": None}]}, [("compute[0].id", ID_RANGE)])
        for number in (0, -1, 2**63)
    ),
    *(
        (
            {"compute": [{"id": value, "permissions": None}]},
            [("compute[0].id", "Must be an integer")],
        )
        for value in WRONG_IDS
    ),
]


@pytest.fixture
async def user(account: Account, new_user: NewUser) -> Account:
    return await new_user(account, restricted=True)


@pytest.fixture
def path(user: Account) -> str:
    return f"/account/users/{user.username}/grants"


def entry(row: Json, permissions: str | None) -> Json:
    return {"id": row["id"], "label": row["label"], "permissions": permissions}


async def test_every_entity_is_listed(client: Client, stranger: Client, path: str) -> None:
    rows = [await made(client, label=label) for label in ("one", "two")]
    await made(stranger)
    assert await client.get(path) == {
        "global": NOTHING,
        **{kind: [] for kind in KINDS},
        "compute": [entry(row, None) for row in rows],
    }


async def test_an_unrestricted_user_needs_none(client: Client, account: Account) -> None:
    path = f"/account/users/{account.username}/grants"
    answer = await client.send("GET", path)
    assert (answer.status, answer.raw) == (204, b"")
    assert not {"Content-Type", "Content-Length"} & set(answer.headers)
    answer = await client.send("PUT", path, {"global": {"add_images": True}})
    assert (answer.status, answer.problems) == (400, [(None, "Only a restricted user has grants.")])


async def test_update(client: Client, user: Account, path: str) -> None:
    one, two = await made(client), await made(client)
    whole = await client.get(path)
    changed = await client.put(
        path,
        {
            "global": {"account_access": "read_only", "add_volumes": True, "add_vpcs": True},
            "compute": [{"id": two["id"], "permissions": "read_write"}],
        },
    )
    rights = {**NOTHING, "account_access": "read_only", "add_volumes": True, "add_vpcs": True}
    entries = [entry(one, None), entry(two, "read_write")]
    assert changed == {**whole, "global": rights, "compute": entries}
    assert await client.get(path) == changed
    unchanged: list[Json] = [{}, changed, {"global": {}, "compute": []}, {"global": None}]
    for same in unchanged:
        assert await client.put(path, same) == changed
    back = await client.put(
        path,
        {
            "global": {"account_access": None, "add_volumes": False},
            "compute": [
                {"id": two["id"], "permissions": None, "label": "ignored"},
                {"id": one["id"], "permissions": "read_only"},
            ],
        },
    )
    assert back["global"] == {**NOTHING, "add_vpcs": True}
    assert back["compute"] == [entry(one, "read_only"), entry(two, None)]
    told = (await client.get("/account/events", filter={"action": "user_update"}))["data"]
    assert len(told) == 6
    assert {event["entity"]["label"] for event in told} == {user.username}


@pytest.mark.parametrize("right", RIGHTS)
async def test_each_right(client: Client, path: str, right: str) -> None:
    assert (await client.put(path, {"global": {right: True}}))["global"] == {**NOTHING, right: True}
    assert (await client.put(path, {"global": {right: None}}))["global"][right] is True
    assert (await client.put(path, {"global": {right: False}}))["global"] == NOTHING


async def test_of_two_entries_for_one_entity_the_last_counts(client: Client, path: str) -> None:
    row = await made(client)
    levels = ("read_write", None, "read_only")
    body = {"compute": [{"id": row["id"], "permissions": level} for level in levels]}
    assert (await client.put(path, body))["compute"] == [entry(row, "read_only")]


@pytest.mark.parametrize(("body", "problems"), REFUSED, ids=str)
async def test_refused(
    client: Client, path: str, body: Json, problems: list[tuple[str, str]]
) -> None:
    before = await client.get(path)
    answer = await client.send("PUT", path, body)
    assert (answer.status, answer.problems) == (400, problems)
    assert await client.get(path) == before
    assert (await client.get("/account/events"))["results"] == 0


async def test_all_problems_are_told_and_nothing_is_written(
    client: Client, stranger: Client, path: str
) -> None:
    mine, foreign = await made(client), await made(stranger)
    before = await client.get(path)
    grants = [{"id": row["id"], "permissions": "read_write"} for row in (mine, foreign)]
    body = {"vpc": grants[:1], "compute": grants, "global": {"child_account_access": True}}
    answer = await client.send("PUT", path, {**body, "volume": []})
    fields = [field for field, _ in answer.problems]
    assert (answer.status, fields) == (
        400,
        ["global.child_account_access", "compute[1].id", "vpc[0].id"],
    )
    assert await client.get(path) == before


@pytest.mark.spec("B account 4")
async def test_access_to_child_accounts_is_for_users_of_a_parent(
    client: Client, roost: Roost, account: Account, path: str
) -> None:
    await roost.store.execute(
        "update api_user set user_type = 'parent' where account_id = $1", account.id
    )
    assert (await client.get(path))["global"]["child_account_access"] is False
    body = {"global": {"child_account_access": True}}
    assert (await client.put(path, body))["global"]["child_account_access"] is True


async def test_grants_go_with_the_entity(
    client: Client, roost: Roost, user: Account, path: str
) -> None:
    row = await made(client)
    await client.put(path, {"compute": [{"id": row["id"], "permissions": "read_only"}]})
    await client.delete(f"{INSTANCES}/{row['id']}")
    await until(lambda: client.get(path), lambda grants: grants["compute"] == [])
    left = "select count(*) from entity_grant where user_id = $1"
    assert await roost.store.fetchval(left, user.user_id) == 0


async def test_another_accounts_user(stranger: Client, path: str) -> None:
    assert (await stranger.send("GET", path)).status == 404
    answer = await stranger.send("PUT", path, {"global": {"account_access": "read_write"}})
    assert (answer.status, answer.problems) == (404, [(None, "Not found")])


@pytest.mark.usefixtures("long_memory")
async def test_a_right_works_at_once(
    nobody: Client, client: Client, user: Account, path: str, new_token: NewToken
) -> None:
    theirs = nobody.as_user(await new_token(user))

    async def code() -> int:
        return (await theirs.send("GET", "/account")).status

    assert await code() == 403
    await client.put(path, {"global": {"account_access": "read_only"}})
    await until(code, lambda seen: seen == 200)
    await client.put(path, {"global": {"account_access": None}})
    await until(code, lambda seen: seen == 403)


async def test_entities_that_have_names(roost: Roost, user: Account, new_token: NewToken) -> None:
    """A name with a number is that entity; one without never passes by itself."""
    identity = await StoredTokens(roost.store).find(hash_token(await new_token(user)))
    assert identity is not None
    await give(roost.store, user.user_id, "image", 15, "read_only")

    async def may(grant: Grant, name: str) -> bool:
        try:
            await require(grant, identity, {"imageId": name}, roost.store)
        except ApiError:
            return False
        return True

    assert await may(Read("image"), "private/15")
    assert not await may(Write("image"), "private/15")
    for name in ("private/16", "roost/debian12", "roost/15", "private/x", "15"):
        assert not await may(Read("image"), name)
        assert not await may(Write("image"), name)
