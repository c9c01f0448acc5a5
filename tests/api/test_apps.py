"""Authorised apps over HTTP (reference: Authorized app)."""

from datetime import timedelta

from roost.app.roost import Roost
from roost.core.scopes import Scopes
from roost.resources.tokens.service import NewToken, make_token
from tests.api.conftest import Account
from tests.support.apps import let_in
from tests.support.client import Client, until

APPS = "/profile/apps"


async def oauth_client(client: Client, label: str = "app") -> str:
    body = {"label": label, "redirect_uri": "https://app.example.com:8443/done?x=1"}
    return str((await client.post("/account/oauth-clients", body))["id"])


async def oauth_token(roost: Roost, user_id: int, app_id: int) -> NewToken:
    expiry = roost.clock.seconds() + timedelta(hours=2)
    scopes = Scopes.parse("account:read_only")
    return await make_token(
        roost.store, roost.clock, user_id, "app", scopes, expiry, "oauth", app_id
    )


async def test_the_record(client: Client, roost: Roost, account: Account) -> None:
    client_id = await oauth_client(client, "My app")
    app_id = await let_in(roost, account.user_id, client_id, "events:read_only")
    row = await client.get(f"{APPS}/{app_id}")
    assert row == {
        "id": app_id,
        "label": "My app",
        "thumbnail_url": None,
        "scopes": "events:read_only",
        "created": row["created"],
        "expiry": None,
        "website": "https://app.example.com:8443",
    }
    assert (await client.get(APPS))["data"] == [row]
    for field in ("label", "created", "expiry"):
        found = await client.get(APPS, filter={field: row[field]})
        assert found["data"] == [row]


async def test_revoking_ends_the_whole_family_and_nothing_else(
    client: Client, stranger: Client, roost: Roost, account: Account, nobody: Client
) -> None:
    client_id = await oauth_client(client)
    app_id = await let_in(roost, account.user_id, client_id)
    other_app = await let_in(roost, account.user_id, client_id)
    tokens = [await oauth_token(roost, account.user_id, app_id) for _ in range(2)]
    other = nobody.as_user((await oauth_token(roost, account.user_id, other_app)).text)
    for table, column in (("oauth_code", "redirect_uri, expiry"), ("refresh_token", "created")):
        values = "'', now()" if table == "oauth_code" else "now()"
        await roost.store.execute(
            f"insert into {table} (hash, app_id, {column})"
            f" select sha256(id::text::bytea), id, {values} from authorized_app"
            " where id in ($1, $2)",
            app_id,
            other_app,
        )
    bearers = [nobody.as_user(token.text) for token in tokens]
    for bearer in bearers:
        assert (await bearer.send("GET", APPS)).status == 200

    assert (await stranger.send("DELETE", f"{APPS}/{app_id}")).status == 404
    assert await client.delete(f"{APPS}/{app_id}") == {}
    for bearer in bearers:
        await until(lambda: bearer.send("GET", APPS), lambda answer: answer.status == 401)  # noqa: B023
    assert [row["id"] for row in (await other.get(APPS))["data"]] == [other_app]
    assert (await client.send("GET", f"{APPS}/{app_id}")).status == 404
    assert (await client.send("DELETE", f"{APPS}/{app_id}")).status == 404
    for table in ("oauth_code", "refresh_token"):
        rows = await roost.store.fetch(
            f"select app_id, used from {table} where app_id in ($1, $2) order by app_id",
            app_id,
            other_app,
        )
        assert [(row["app_id"], row["used"]) for row in rows] == [
            (app_id, True),
            (other_app, False),
        ]


async def test_consents_that_are_over_are_not_listed(
    client: Client, roost: Roost, account: Account
) -> None:
    app_id = await let_in(roost, account.user_id, await oauth_client(client))
    await roost.store.execute(
        "update authorized_app set expiry = $2 where id = $1", app_id, roost.clock.seconds()
    )
    assert (await client.get(APPS))["data"] == []
    assert (await client.send("GET", f"{APPS}/{app_id}")).status == 404
    assert (await client.send("DELETE", f"{APPS}/{app_id}")).status == 404


async def test_what_a_colleague_let_in_is_not_ones_own(
    client: Client, roost: Roost, account: Account
) -> None:
    name = f"colleague-{account.id}"
    await client.post("/account/users", {"username": name, "email": "c@example.com"})
    user_id = await roost.store.fetchval("select id from api_user where username = $1", name)
    app_id = await let_in(roost, user_id, await oauth_client(client))
    assert (await client.get(APPS))["data"] == []
    assert (await client.send("DELETE", f"{APPS}/{app_id}")).status == 404
