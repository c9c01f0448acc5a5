"""Parent and child accounts (spec B, Account rules 3 and 4)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from roost.app.roost import Roost
from roost.core.identity import UserType
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.client import Answer, Client, Json, until
from tests.support.families import Proxy, adopt
from tests.support.instances import INSTANCES, made
from tests.support.keys import KEY
from tests.support.object_storage import made_bucket, path_of

pytestmark = pytest.mark.spec("B account 4", "B auth 5")

PATH = "/account/child-accounts"
OAUTH_CLIENTS = "/account/oauth-clients"
REDIRECT = "https://app.example/callback"
FORBIDDEN = (403, [(None, "Unauthorized")])
NOT_FOUND = (404, [(None, "Not found")])


@dataclass(frozen=True, slots=True)
class Family:
    """A parent with one child; clients of an unrestricted user of each."""

    parent_account: Account
    child_account: Account
    proxy: Proxy
    parent: Client
    child: Client

    @property
    def path(self) -> str:
        return f"{PATH}/{self.proxy.euuid}"


NewFamily = Callable[[], Awaitable[Family]]


@pytest.fixture
async def new_family(
    roost: Roost, nobody: Client, new_account: NewAccount, new_token: NewToken
) -> NewFamily:
    async def make() -> Family:
        parent, child = await new_account(), await new_account()
        proxy = await adopt(roost, child.id, parent.id)
        clients = [nobody.as_user(await new_token(account)) for account in (parent, child)]
        return Family(parent, child, proxy, *clients)

    return make


@pytest.fixture
async def family(new_family: NewFamily) -> Family:
    return await new_family()


def seen(answer: Answer) -> tuple[int, list[tuple[str | None, str]]]:
    return answer.status, answer.problems


async def user_type(client: Client) -> UserType:
    user_type: UserType = (await client.get("/profile"))["user_type"]
    return user_type


@pytest.mark.spec("B account child-accounts list", "B account child-accounts view")
async def test_record(family: Family) -> None:
    page = await family.parent.get(PATH)
    assert (page["page"], page["pages"], page["results"]) == (1, 1, 1)
    (row,) = page["data"]
    assert row["euuid"] == family.proxy.euuid
    assert row == await family.child.get("/account")
    assert row["billing_source"] == "external"
    assert await family.parent.get(family.path) == row


async def test_a_child_is_found_whatever_its_case(family: Family) -> None:
    row = await family.parent.get(family.path)
    assert await family.parent.get(f"{PATH}/{family.proxy.euuid.upper()}") == row


@pytest.mark.parametrize(
    "euuid",
    [
        "x",
        "100000",
        "00000000-0000-4000-8000-000000000000",
        "00000000-0000-4000-8000-00000000000",
        "%20",
    ],
)
@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("POST", "/token")])
async def test_what_is_no_child(family: Family, euuid: str, method: str, suffix: str) -> None:
    answer = await family.parent.send(method, f"{PATH}/{euuid}{suffix}")
    assert seen(answer) == NOT_FOUND


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("POST", "/token")])
async def test_a_strangers_child(
    family: Family, new_family: NewFamily, method: str, suffix: str
) -> None:
    other = await new_family()
    answer = await family.parent.send(method, other.path + suffix)
    assert seen(answer) == NOT_FOUND
    assert [row["euuid"] for row in (await other.parent.get(PATH))["data"]] == [other.proxy.euuid]


@pytest.mark.spec("B filter")
async def test_filters(family: Family, roost: Roost, new_account: NewAccount) -> None:
    second = await adopt(roost, (await new_account()).id, family.parent_account.id)
    await roost.store.execute(
        "update account set company = 'Heron', country = 'FR', address_1 = '1 Rue', zip = '75001',"
        " city = 'Paris', email = 'h@example.com', first_name = 'Ada', last_name = 'H',"
        " phone = '1', state = 'IDF', address_2 = 'b' where id = $1",
        second.account_id,
    )
    row = await family.parent.get(f"{PATH}/{second.euuid}")
    fields = "address_1 address_2 city company country email first_name last_name phone state zip"
    for field in fields.split():
        found = (await family.parent.get(PATH, filter={field: row[field]}))["data"]
        assert found == [row], field
    for field in ("euuid", "tax_id", "balance", "active_since"):
        answer = await family.parent.send("GET", PATH, headers={"X-Filter": f'{{"{field}": "x"}}'})
        assert answer.problems == [("X-Filter", f"Cannot filter on {field}")]


async def test_a_proxy_token_ends_with_the_token_that_makes_it(
    family: Family, nobody: Client, roost: Roost, new_token: NewToken
) -> None:
    soon = roost.clock.seconds() + timedelta(minutes=3)
    short = nobody.as_user(await new_token(family.parent_account, expiry=soon))
    assert (await short.post(f"{family.path}/token"))["expiry"] == soon.isoformat()


async def create_token(family: Family) -> Json:
    return await family.parent.post(f"{family.path}/token")


@pytest.mark.spec("B account child-accounts token")
async def test_proxy_token(family: Family, nobody: Client, roost: Roost) -> None:
    before = roost.clock.seconds()
    token = await create_token(family)
    created, expiry = (datetime.fromisoformat(token[name]) for name in ("created", "expiry"))
    assert expiry - created == timedelta(minutes=15)
    assert before <= created <= roost.clock.seconds()
    name, uid, time = token["label"].rsplit("_", 2)
    assert (name, int(uid)) == (family.parent_account.username, family.parent_account.user_id)
    assert abs(int(time) - datetime.fromisoformat(f"{token['created']}+00:00").timestamp()) < 1
    assert (token["scopes"], len(token["token"])) == ("*", 64)
    proxy = nobody.as_user(token["token"])
    profile = await proxy.get("/profile")
    assert (profile["username"], profile["user_type"]) == (family.proxy.username, "proxy")
    assert (await proxy.get("/account"))["euuid"] == family.proxy.euuid


async def test_proxy_token_works_in_the_child_only(
    family: Family, new_family: NewFamily, nobody: Client
) -> None:
    other = await new_family()
    proxy = nobody.as_user((await create_token(family))["token"])
    compute_id = (await made(proxy))["id"]
    assert (await family.child.get(f"{INSTANCES}/{compute_id}"))["id"] == compute_id
    for stranger in (family.parent, other.child, other.parent):
        assert seen(await stranger.send("GET", f"{INSTANCES}/{compute_id}")) == NOT_FOUND


@pytest.mark.spec("B account 4 once")
async def test_proxy_token_is_shown_once(family: Family, roost: Roost, nobody: Client) -> None:
    token = (await create_token(family))["token"]
    proxy = nobody.as_user(token)
    for path in ("/profile/tokens", "/account/events"):
        for client in (family.parent, family.child, proxy):
            assert token not in (await client.send("GET", path)).raw.decode()
    assert await roost.store.fetchval("select count(*) from token where label = $1", token) == 0


async def test_proxy_token_expires(family: Family, nobody: Client, roost: Roost) -> None:
    proxy = nobody.as_user((await create_token(family))["token"])
    assert (await proxy.send("GET", "/account")).status == 200
    await roost.store.execute(
        "update token set expiry = $2 where user_id = $1",
        family.proxy.user_id,
        roost.clock.seconds(),
    )
    await roost.store.notify("roost_token")
    answer = await until(lambda: proxy.send("GET", "/account"), lambda answer: answer.status != 200)
    assert seen(answer) == (401, [(None, "Invalid Token")])


@pytest.mark.spec("B account 4 permissions")
async def test_proxy_token_has_the_proxy_users_permissions(family: Family, nobody: Client) -> None:
    proxy = nobody.as_user((await create_token(family))["token"])
    compute_id = (await made(family.child))["id"]
    path = f"{INSTANCES}/{compute_id}"
    assert (await proxy.send("GET", path)).status == 200
    user = f"/account/users/{family.proxy.username}"
    await family.child.put(user, {"restricted": True})
    await until(lambda: proxy.send("GET", path), lambda answer: seen(answer) == FORBIDDEN)
    grants = {"compute": [{"id": compute_id, "permissions": "read_only"}]}
    await family.child.put(f"{user}/grants", grants)
    await until(lambda: proxy.send("GET", path), lambda answer: answer.status == 200)
    assert seen(await proxy.send("PUT", path, {"label": "mine"})) == FORBIDDEN


async def test_event_of_a_proxy_token(family: Family) -> None:
    token = await create_token(family)
    wanted = {"action": "token_create"}
    (event,) = (await family.child.get("/account/events", filter=wanted))["data"]
    assert event["username"] == family.proxy.username
    assert event["entity"] == {
        "id": token["id"],
        "label": token["label"],
        "type": "token",
        "url": f"/v4/profile/tokens/{token['id']}",
    }
    assert (await family.parent.get("/account/events", filter=wanted))["results"] == 0


async def test_types_of_users(
    family: Family, client: Client, nobody: Client, new_user: NewUser, new_token: NewToken
) -> None:
    assert await user_type(client) == "default"
    assert await user_type(family.parent) == "parent"
    assert await user_type(family.child) == "child"
    for account, wanted in ((family.parent_account, "parent"), (family.child_account, "child")):
        user = await new_user(account, restricted=True)
        assert await user_type(nobody.as_user(await new_token(user))) == wanted


@pytest.mark.spec("B account 4 token")
@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("GET", "one"), ("POST", "token")])
async def test_who_may(
    family: Family,
    client: Client,
    nobody: Client,
    roost: Roost,
    new_user: NewUser,
    new_token: NewToken,
    method: str,
    suffix: str,
) -> None:
    """Rule 4: unrestricted parent users, and those with the grant."""
    path = {"": PATH, "one": family.path, "token": f"{family.path}/token"}[suffix]
    proxy = nobody.as_user((await create_token(family))["token"])
    for refused in (client, family.child, proxy):
        assert seen(await refused.send(method, path)) == FORBIDDEN
    user = await new_user(family.parent_account, restricted=True)
    restricted = nobody.as_user(await new_token(user))
    assert seen(await restricted.send(method, path)) == FORBIDDEN
    grants = {"global": {"child_account_access": True}}
    await family.parent.put(f"/account/users/{user.username}/grants", grants)
    await until(lambda: restricted.send(method, path), lambda answer: answer.status == 200)


@pytest.mark.spec("B account 3")
async def test_what_child_users_can_not_do(family: Family, nobody: Client) -> None:
    """Rule 3; the parent's users can, as the proxy user."""
    before = await family.child.get("/account")
    answer = await family.child.send("PUT", "/account", {"city": "Oslo"})
    assert seen(answer) == FORBIDDEN
    assert await family.child.get("/account") == before
    proxy = nobody.as_user((await create_token(family))["token"])
    assert (await proxy.put("/account", {"city": "Oslo"}))["city"] == "Oslo"


@pytest.mark.spec("B account 3 company")
async def test_company_of_a_parent(family: Family) -> None:
    """Rule 3: it can't be changed, once there is one."""
    assert (await family.parent.get("/account"))["company"] == ""
    company = (await family.parent.put("/account", {"company": "Heron"}))["company"]
    answer = await family.parent.send("PUT", "/account", {"company": "Another", "city": "Oslo"})
    assert [field for field, _ in answer.problems] == ["company"]
    account = await family.parent.get("/account")
    assert (account["company"], account["city"]) == (company, "")
    assert (await family.parent.put("/account", {"company": company}))["company"] == company


async def test_a_proxy_user_makes_no_tokens(family: Family, nobody: Client) -> None:
    proxy = nobody.as_user((await create_token(family))["token"])
    answer = await proxy.send("POST", "/profile/tokens", {"label": "longer", "scopes": "*"})
    assert seen(answer) == FORBIDDEN
    deleted = await family.child.send("DELETE", f"/account/users/{family.proxy.username}")
    assert seen(deleted) == FORBIDDEN


async def test_a_proxy_user_keeps_its_email(family: Family, nobody: Client) -> None:
    proxy = nobody.as_user((await create_token(family))["token"])
    whole = await proxy.get("/profile")
    answer = await proxy.send("PUT", "/profile", {**whole, "email": "mine@example.com"})
    assert seen(answer) == FORBIDDEN
    assert await proxy.put("/profile", whole) == whole
    assert (await proxy.put("/profile", {"timezone": "UTC"}))["email"] == whole["email"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/profile/sshkeys", {"ssh_key": KEY}),
        ("/profile/tfa-enable", None),
        ("/profile/tfa-enable-confirm", {"tfa_code": "123456"}),
        ("/profile/tfa-disable", None),
    ],
)
async def test_a_proxy_user_has_nothing_to_log_in_with(
    family: Family, nobody: Client, path: str, body: Json
) -> None:
    proxy = nobody.as_user((await create_token(family))["token"])
    assert seen(await proxy.send("POST", path, body)) == FORBIDDEN


async def test_a_proxy_user_has_no_keys(family: Family, nobody: Client) -> None:
    proxy = nobody.as_user((await create_token(family))["token"])
    answer = await proxy.send("PUT", "/profile", {"authorized_keys": [KEY]})
    assert seen(answer) == FORBIDDEN
    assert (await proxy.put("/profile", {"authorized_keys": []}))["authorized_keys"] in ([], None)


async def test_a_proxy_user_leaves_the_childs_people_and_apps_alone(
    family: Family, nobody: Client, roost: Roost
) -> None:
    """Nobody comes in by fifteen minutes who would stay, and nobody is put out."""
    app = await family.child.post(OAUTH_CLIENTS, {"label": "own", "redirect_uri": REDIRECT})
    proxy = nobody.as_user((await create_token(family))["token"])
    users, own = "/account/users", f"/account/users/{family.child_account.username}"
    new = {"username": "stays", "email": "s@example.com", "restricted": False}
    tried: list[tuple[str, str, Json]] = [
        ("POST", users, new),
        ("PUT", own, {"email": "mine@example.com"}),
        ("PUT", own, {"restricted": True}),
        ("DELETE", own, None),
        ("PUT", f"{own}/grants", {"global": {"account_access": "read_write"}}),
        ("POST", OAUTH_CLIENTS, {"label": "stays", "redirect_uri": REDIRECT}),
        ("PUT", f"{OAUTH_CLIENTS}/{app['id']}", {"redirect_uri": "https://elsewhere.example"}),
        ("POST", f"{OAUTH_CLIENTS}/{app['id']}/reset-secret", None),
        ("POST", "/object-storage/keys", {"label": "stays"}),
        ("POST", "/account/service-transfers", {"entities": {"computes": [100000]}}),
    ]
    before = await access_of(roost, family.child_account.id)
    for method, path, body in tried:
        assert seen(await proxy.send(method, path, body)) == FORBIDDEN, path
    assert await access_of(roost, family.child_account.id) == before
    assert (await proxy.get(users))["results"] == 2


async def test_urls_of_a_proxy_user_end_with_the_token(family: Family, nobody: Client) -> None:
    path = f"{path_of(await made_bucket(family.child))}/object-url"
    proxy = nobody.as_user((await create_token(family))["token"])
    url = (await proxy.post(path, {"name": "a"}))["url"]
    assert 800 < int(parse_qs(urlsplit(url).query)["seconds"][0]) <= 900
    assert "seconds=400" in (await proxy.post(path, {"name": "a", "expires_in": 400}))["url"]
    answer = await proxy.send("POST", path, {"name": "a", "expires_in": 3600})
    assert [field for field, _ in answer.problems] == ["expires_in"]
    assert "seconds=3600" in (await family.child.post(path, {"name": "a"}))["url"]


async def access_of(roost: Roost, account_id: int) -> list[tuple[object, ...]]:
    """Who is let in to the account, and by what."""
    rows = await roost.store.fetch(
        """
        select username, email, restricted::text, 'user' as kind from api_user where account_id = $1
        union all select id, redirect_uri, secret_hash::text, 'app' from oauth_client
            where account_id = $1
        order by 1, 4
        """,
        account_id,
    )
    return [tuple(row) for row in rows]


@pytest.mark.spec("B account 2")
async def test_only_who_may_end_the_parent_ends_a_child(
    family: Family, nobody: Client, roost: Roost, new_user: NewUser, new_token: NewToken
) -> None:
    user = await new_user(family.parent_account, restricted=True)
    grants = {"global": {"child_account_access": True}}
    await family.parent.put(f"/account/users/{user.username}/grants", grants)
    restricted = nobody.as_user(await new_token(user))
    token = (await restricted.post(f"{family.path}/token"))["token"]
    assert seen(await nobody.as_user(token).send("POST", "/account/cancel", {})) == FORBIDDEN
    assert (await family.child.send("GET", "/profile")).status == 200


@dataclass(frozen=True, slots=True)
class Maker:
    """Another user of the parent; what they made acts in the child."""

    path: str
    user_id: int
    client: Client
    proxy: Client

    async def ended(self) -> None:
        answer = await until(
            lambda: self.proxy.send("GET", "/account"), lambda answer: answer.status != 200
        )
        assert seen(answer) == (401, [(None, "Invalid Token")])


@pytest.fixture
async def maker(family: Family, nobody: Client, new_user: NewUser, new_token: NewToken) -> Maker:
    user = await new_user(family.parent_account)
    client = nobody.as_user(await new_token(user))
    proxy = nobody.as_user((await client.post(f"{family.path}/token"))["token"])
    assert (await proxy.send("GET", "/account")).status == 200
    return Maker(f"/account/users/{user.username}", user.user_id, client, proxy)


async def test_a_proxy_token_ends_when_its_maker_is_deleted(family: Family, maker: Maker) -> None:
    await family.parent.delete(maker.path)
    await maker.ended()


@pytest.mark.parametrize("themself", [False, True])
async def test_a_proxy_token_ends_when_its_maker_is_restricted(
    family: Family, nobody: Client, maker: Maker, themself: bool
) -> None:
    other = nobody.as_user((await create_token(family))["token"])
    if themself:
        await maker.client.put("/profile", {"restricted": True})
    else:
        await family.parent.put(maker.path, {"restricted": True})
    await maker.ended()
    assert (await other.send("GET", "/account")).status == 200


async def test_a_proxy_token_ends_with_the_right_to_make_it(
    family: Family, nobody: Client, maker: Maker
) -> None:
    await family.parent.put(maker.path, {"restricted": True})
    grants = f"{maker.path}/grants"
    await family.parent.put(grants, {"global": {"child_account_access": True}})
    path = f"{family.path}/token"
    answer = await until(lambda: maker.client.send("POST", path), lambda seen: seen.status == 200)
    again = replace(maker, proxy=nobody.as_user(answer.body["token"]))
    await family.parent.put(grants, {"global": {"add_computes": True}})
    assert (await again.proxy.send("GET", "/account")).status == 200
    await family.parent.put(grants, {"global": {"child_account_access": False}})
    await again.ended()


async def test_who_was_just_restricted_makes_no_proxy_token(
    family: Family, roost: Roost, maker: Maker
) -> None:
    await roost.store.execute("update api_user set restricted = true where id = $1", maker.user_id)
    answer = await maker.client.send("POST", f"{family.path}/token")
    assert seen(answer) == FORBIDDEN
