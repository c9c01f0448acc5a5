"""Users of an account over HTTP (reference: User)."""

import asyncio
import uuid
from datetime import timedelta

import pytest

from roost.app.roost import Roost
from roost.core.scopes import Scopes
from roost.resources.account.service import make_parent
from roost.resources.tokens.service import make_token
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.apps import let_in
from tests.support.client import Client, Json, until
from tests.support.oauth import register

pytestmark = pytest.mark.spec("B account 10")

USERS = "/account/users"
TAKEN = [("username", "This username is taken")]
LAST = "The account needs at least one unrestricted user."


def fresh() -> str:
    return f"user-{uuid.uuid4().hex[:16]}"


def path_of(user: Account) -> str:
    return f"{USERS}/{user.username}"


async def events(client: Client) -> list[tuple[str, Json]]:
    """Newest first."""
    return [(e["action"], e["entity"]) for e in (await client.get("/account/events"))["data"]]


async def names(client: Client) -> list[str]:
    return [row["username"] for row in (await client.get(USERS))["data"]]


async def status(client: Client, path: str) -> int:
    return (await client.send("GET", path)).status


async def test_life_of_a_user(client: Client, roost: Roost, account: Account) -> None:
    name = fresh()
    row = await client.post(USERS, {"username": name, "email": "ada@example.com"})
    assert row == {
        "username": name,
        "email": "ada@example.com",
        "restricted": True,
        "ssh_keys": [],
        "tfa_enabled": False,
        "verified_phone_number": None,
        "password_created": None,
        "last_login": None,
        "user_type": "default",
    }
    assert await client.get(f"{USERS}/{name}") == row
    assert await names(client) == [account.username, name]
    changed = await client.put(f"{USERS}/{name}", {"email": "a@example.com", "restricted": False})
    assert changed == {**row, "email": "a@example.com", "restricted": False}
    assert await client.put(f"{USERS}/{name}", changed) == changed
    assert await client.put(f"{USERS}/{name}", {}) == changed
    assert await client.delete(f"{USERS}/{name}") == {}
    assert await status(client, f"{USERS}/{name}") == 404
    assert await names(client) == [account.username]
    told = await events(client)
    assert [action for action, _ in told] == ["user_delete", *["user_update"] * 3, "user_create"]
    user_id = told[0][1]["id"]
    entity = {"id": user_id, "label": name, "type": "user", "url": f"/v4/account/users/{name}"}
    assert all(about == entity for _, about in told)
    assert await roost.store.fetchval("select count(*) from api_user where id = $1", user_id) == 0


async def test_the_record_shows_keys_and_logins(
    client: Client, roost: Roost, account: Account
) -> None:
    for label in ("laptop", "desk"):
        await roost.store.execute(
            "insert into ssh_key (user_id, label, ssh_key, created) values ($1, $2, 'k', now())",
            account.user_id,
            label,
        )
    await roost.store.execute(
        "update api_user set last_login = '2030-01-02T03:04:05', last_login_status = 'failed',"
        " password_created = '2029-01-02T03:04:05', tfa_enabled = true where id = $1",
        account.user_id,
    )
    row = await client.get(path_of(account))
    assert row["ssh_keys"] == ["laptop", "desk"]
    assert row["last_login"] == {"login_datetime": "2030-01-02T03:04:05", "status": "failed"}
    assert (row["password_created"], row["tfa_enabled"]) == ("2029-01-02T03:04:05", True)


async def test_list_by_name(client: Client, account: Account) -> None:
    await client.post(USERS, {"username": fresh(), "email": "a@example.com"})
    page = await client.get(USERS, filter={"username": account.username})
    assert [row["username"] for row in page["data"]] == [account.username]
    answer = await client.send("GET", USERS, headers={"X-Filter": '{"email": "a"}'})
    assert answer.problems == [("X-Filter", "Cannot filter on email")]


async def test_names_are_unique_in_the_whole_cloud(
    client: Client, stranger: Client, account: Account
) -> None:
    name = fresh()
    await client.post(USERS, {"username": name, "email": "a@example.com"})
    for other in (client, stranger):
        body = {"username": name, "email": "b@example.com"}
        answer = await other.send("POST", USERS, body)
        assert (answer.status, answer.problems) == (400, TAKEN)
    answer = await client.send("PUT", f"{USERS}/{name}", {"username": account.username})
    assert (answer.status, answer.problems) == (400, TAKEN)
    assert await names(client) == [account.username, name]
    assert len(await events(client)) == 1
    assert await events(stranger) == []


async def test_names_differ_by_more_than_case(
    client: Client, stranger: Client, account: Account
) -> None:
    name = fresh()
    await client.post(USERS, {"username": name, "email": "a@example.com"})
    for other in (client, stranger):
        answer = await other.send(
            "POST", USERS, {"username": name.upper(), "email": "b@example.com"}
        )
        assert (answer.status, answer.problems) == (400, TAKEN)
    renamed = await client.put(f"{USERS}/{name}", {"username": name.upper()})
    assert renamed["username"] == name.upper()
    assert await names(client) == [account.username, name.upper()]


@pytest.mark.parametrize("name", ["admin", "Root", "SUPPORT", "postmaster"])
async def test_names_that_are_the_operators(client: Client, account: Account, name: str) -> None:
    reserved = [("username", "This username is reserved")]
    answer = await client.send("POST", USERS, {"username": name, "email": "a@example.com"})
    assert (answer.status, answer.problems) == (400, reserved)
    path = f"{USERS}/{account.username}"
    answer = await client.send("PUT", path, {"username": name})
    assert (answer.status, answer.problems) == (400, reserved)
    assert await names(client) == [account.username]


async def test_a_reserved_name_that_a_user_has_may_be_sent_back(
    client: Client, roost: Roost, account: Account
) -> None:
    """The first user is called admin."""
    await roost.store.execute("update api_user set username = 'noc' where id = $1", account.user_id)
    row = await client.get(f"{USERS}/noc")
    assert await client.put(f"{USERS}/noc", {**row, "email": "n@example.com"}) == {
        **row,
        "email": "n@example.com",
    }


async def test_what_an_app_that_was_let_in_may_not(
    client: Client, nobody: Client, roost: Roost, account: Account
) -> None:
    """Make users or tokens, say where letters go, or change how users log in."""
    app = await register(client)
    app_id = await let_in(roost, account.user_id, app.id)
    expiry = roost.clock.seconds() + timedelta(hours=2)
    scopes = Scopes.parse("*")
    made = await make_token(
        roost.store, roost.clock, account.user_id, "app", scopes, expiry, "oauth", app_id
    )
    by_app, profile = nobody.as_user(made.text), await client.get("/profile")
    user = f"{USERS}/{account.username}"
    for method, path, body in (
        ("POST", USERS, {"username": fresh(), "email": "a@example.com", "restricted": False}),
        ("POST", "/profile/tokens", {}),
        ("POST", "/profile/tfa-enable", None),
        ("POST", "/profile/tfa-enable-confirm", {"tfa_code": "123456"}),
        ("POST", "/profile/tfa-disable", {"tfa_code": "123456"}),
        ("PUT", "/profile", {"email": "thief@example.com"}),
        ("PUT", user, {"email": "thief@example.com"}),
    ):
        answer = await by_app.send(method, path, body)
        assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")]), path
    assert await by_app.put("/profile", profile) == profile
    row = await client.get(user)
    assert await by_app.put(user, {**row, "email": None}) == row
    assert await client.get("/profile") == profile
    assert await names(client) == [account.username]


async def test_of_two_creations_at_once_one_succeeds(client: Client, stranger: Client) -> None:
    body = {"username": fresh(), "email": "a@example.com"}
    answers = await asyncio.gather(*(c.send("POST", USERS, body) for c in (client, stranger) * 3))
    assert sorted(answer.status for answer in answers) == [200, *[400] * 5]


async def test_a_renamed_user_keeps_everything(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    user = await new_user(account, restricted=True)
    theirs = nobody.as_user(await new_token(user))
    grants = {"global": {"account_access": "read_only"}}
    held = await client.put(f"{path_of(user)}/grants", grants)
    before, name = await client.get(path_of(user)), fresh()
    assert await client.put(path_of(user), {"username": name}) == {**before, "username": name}
    assert await status(client, path_of(user)) == 404
    assert await client.get(f"{USERS}/{name}/grants") == held
    assert await status(theirs, "/account") == 200
    assert (await events(client))[0][1]["url"] == f"/v4/account/users/{name}"


@pytest.mark.usefixtures("long_memory")
async def test_restricting_takes_grants_away_and_works_at_once(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    user = await new_user(account)
    theirs = nobody.as_user(await new_token(user))
    grants = f"{path_of(user)}/grants"
    assert await status(theirs, USERS) == 200
    assert (await client.send("GET", grants)).status == 204
    await client.put(path_of(user), {"restricted": True})
    await until(lambda: status(theirs, USERS), lambda code: code == 403)
    empty = await client.get(grants)
    rights = {"account_access": "read_write", "add_volumes": True}
    granted = await client.put(grants, {"global": rights})
    assert granted["global"] == {**empty["global"], **rights}
    await until(lambda: status(theirs, "/account"), lambda code: code == 200)
    await client.put(path_of(user), {"restricted": True, "email": "x@example.com"})
    assert await client.get(grants) == granted
    await client.put(path_of(user), {"restricted": False})
    await until(lambda: status(theirs, USERS), lambda code: code == 200)
    await client.put(path_of(user), {"restricted": True})
    assert await client.get(grants) == empty


@pytest.mark.usefixtures("long_memory")
async def test_deleting_a_user_ends_their_tokens_at_once(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    user = await new_user(account)
    tokens = [nobody.as_user(await new_token(user)) for _ in range(2)]

    async def codes() -> list[int]:
        return [await status(theirs, "/account") for theirs in tokens]

    assert await codes() == [200, 200]
    await client.delete(path_of(user))
    await until(codes, lambda seen: seen == [401, 401])


async def test_the_last_unrestricted_user_stays(
    client: Client, account: Account, new_user: NewUser
) -> None:
    await new_user(account, restricted=True)
    answer = await client.send("PUT", path_of(account), {"restricted": True})
    assert (answer.status, answer.problems) == (400, [("restricted", LAST)])
    answer = await client.send("DELETE", path_of(account))
    assert (answer.status, answer.problems) == (400, [(None, LAST)])
    assert (await client.get(path_of(account)))["restricted"] is False
    assert await events(client) == []


async def test_of_many_that_restrict_each_other_one_stays(
    nobody: Client, roost: Roost, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    users = [account, *[await new_user(account) for _ in range(4)]]
    clients = [nobody.as_user(await new_token(user)) for user in users]
    await asyncio.gather(
        *(
            client.send("PUT", path_of(user), {"restricted": True})
            for client, user in zip(clients, users[1:] + users[:1], strict=True)
        )
    )
    left = await roost.store.fetchval(
        "select count(*) from api_user where account_id = $1 and not restricted", account.id
    )
    assert left >= 1


async def test_nobody_deletes_themself(client: Client, account: Account, new_user: NewUser) -> None:
    await new_user(account)
    answer = await client.send("DELETE", path_of(account))
    assert (answer.status, answer.problems) == (400, [(None, "You can't delete yourself.")])
    assert await status(client, path_of(account)) == 200


async def test_restricted_users_see_no_users(
    nobody: Client, roost: Roost, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    """Whatever they may do otherwise: not even themselves."""
    user = await new_user(account, restricted=True)
    await roost.store.execute(
        "update api_user set account_access = 'read_write' where id = $1", user.user_id
    )
    theirs = nobody.as_user(await new_token(user))
    body = {"username": fresh(), "email": "a@example.com"}
    for method, path, sent in (
        ("GET", USERS, None),
        ("POST", USERS, body),
        ("GET", path_of(user), None),
        ("PUT", path_of(user), {"restricted": False}),
        ("DELETE", path_of(account), None),
        ("GET", f"{path_of(user)}/grants", None),
        ("PUT", f"{path_of(user)}/grants", {"global": {"account_access": None}}),
    ):
        answer = await theirs.send(method, path, sent)
        assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("POST", "", {"username": "never-made", "email": "a@example.com"}),
        ("PUT", "/{caller}", {"restricted": False}),
        ("PUT", "/{other}", {"email": "b@example.com"}),
        ("DELETE", "/{other}", None),
        ("PUT", "/{caller}/grants", {"global": {"account_access": "read_write"}}),
    ],
)
@pytest.mark.parametrize("gone", [False, True])
async def test_what_was_under_way_when_its_caller_was_restricted(
    nobody: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
    method: str,
    suffix: str,
    body: Json,
    gone: bool,
) -> None:
    caller, other = await new_user(account), await new_user(account)
    theirs = nobody.as_user(await new_token(caller))
    assert await status(theirs, USERS) == 200
    await roost.store.execute(
        "delete from api_user where id = $1"
        if gone
        else "update api_user set restricted = true where id = $1",
        caller.user_id,
    )
    path = USERS + suffix.format(caller=caller.username, other=other.username)
    refusal = (401, [(None, "Invalid Token")]) if gone else (403, [(None, "Unauthorized")])
    answer = await theirs.send(method, path, body)
    assert (answer.status, answer.problems) == refusal
    assert await roost.store.fetchval(
        "select count(*) from api_user where account_id = $1", account.id
    ) == (2 if gone else 3)


@pytest.mark.spec("B account 4")
async def test_a_family_of_accounts(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    """New users are of their account's type; a proxy user is neither renamed nor deleted."""
    parent, child = await new_account(), await new_account()
    async with roost.store.transaction() as db:
        proxy = await make_parent(db, roost.clock, child.id, parent.id)
    clients = {
        "parent": nobody.as_user(await new_token(parent)),
        "child": nobody.as_user(await new_token(child)),
    }
    for user_type, client in clients.items():
        made = await client.post(USERS, {"username": fresh(), "email": "a@example.com"})
        assert made["user_type"] == user_type
    path, client = f"{USERS}/{proxy}", clients["child"]
    row = await client.get(path)
    assert (row["user_type"], row["restricted"]) == ("proxy", False)
    for body in ({"username": fresh()}, {"email": "new@example.com"}):
        assert (await client.send("PUT", path, body)).status == 403
    assert (await client.send("DELETE", path)).status == 403
    assert await client.get(path) == row
    answer = await client.send("PUT", path_of(child), {"restricted": True})
    assert answer.problems == [("restricted", LAST)]
    assert (await client.put(path, {"restricted": True}))["restricted"] is True
    assert (await client.get(f"{path}/grants"))["global"]["account_access"] is None
    assert (await clients["parent"].send("GET", path)).status == 404
