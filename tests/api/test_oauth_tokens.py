"""The token and revocation endpoints, and all that may not get a token."""

import asyncio
import base64
import re
from collections.abc import Mapping

import pytest

from roost.app.roost import Roost
from roost.secrets import hash_token
from tests.api.conftest import Account
from tests.support.browser import FORM, Browser
from tests.support.client import Client, Json, until
from tests.support.oauth import (
    AUTHORIZE,
    REVOKE,
    TOKEN,
    WEB,
    App,
    Proof,
    allow,
    ask_tokens,
    obtain,
    refused,
    register,
    wish,
)

pytestmark = pytest.mark.spec("B auth 1", "B auth 3", "B account 8")

SCOPES = "computes:read_only events:read_only"


@pytest.fixture
async def app(client: Client) -> App:
    return await register(client)


@pytest.fixture
async def public(client: Client) -> App:
    return await register(client, public=True)


async def code_for(browser: Browser, app: App, **changes: str) -> str:
    return (await allow(browser, wish(app, **changes))).answer["code"]


def refreshing(app: App, pair: Json, **changes: str) -> dict[str, str]:
    return {
        **app.login,
        "grant_type": "refresh_token",
        "refresh_token": pair["refresh_token"],
        **changes,
    }


async def works(client: Client, pair: Mapping[str, str]) -> bool:
    answer = await client.as_user(pair["access_token"]).send("GET", "/compute/instances")
    return answer.status == 200


async def ended(client: Client, pair: Mapping[str, str]) -> None:
    """Waits for the notification, which is faster than any cache would be."""
    await until(lambda: works(client, pair), lambda found: not found, seconds=2)


async def test_a_code_gives_a_pair(
    user_browser: Browser, client: Client, roost: Roost, app: App, account: Account
) -> None:
    """As clients of the reference ask: no grant type, no redirect URI."""
    code = await code_for(user_browser, app)
    status, pair = await ask_tokens(user_browser, {**app.login, "code": code})
    assert status == 200
    assert re.fullmatch("[0-9a-f]{64}", pair.pop("access_token"))
    assert re.fullmatch("[0-9a-f]{64}", pair.pop("refresh_token"))
    assert pair == {
        "token_type": "bearer",
        "expires_in": 7200,
        "scope": SCOPES,
        "scopes": SCOPES,
    }
    row = await roost.store.fetchrow("select * from token where kind = 'oauth' order by id desc")
    assert row is not None
    assert (row["user_id"], row["label"], row["scopes"]) == (account.user_id, "app", SCOPES)
    assert (row["expiry"] - row["created"]).total_seconds() == 7200


async def test_a_token_acts_as_the_user_within_its_scopes(
    user_browser: Browser, client: Client, app: App, account: Account
) -> None:
    pair = await obtain(user_browser, app)
    user = client.as_user(pair["access_token"])
    assert (await user.get("/profile"))["username"] == account.username
    answer = await user.send("GET", "/compute/instances")
    assert answer.headers["X-OAuth-Scopes"] == SCOPES
    assert (await user.send("GET", "/account")).status == 401
    assert (await user.send("POST", "/compute/instances", {})).status == 401


async def test_the_standard_way(user_browser: Browser, app: App) -> None:
    proof = Proof()
    code = await code_for(user_browser, app, redirect_uri=WEB, **proof.challenge)
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": WEB}
    secret = base64.b64encode(f"{app.id}:{app.secret}".encode()).decode()
    headers = {**FORM, "Authorization": f"Basic {secret}"}
    body = "&".join(f"{k}={v}" for k, v in {**fields, "code_verifier": proof.verifier}.items())
    page = await user_browser.send("POST", TOKEN, body.encode(), headers)
    assert page.status == 200
    assert page.headers["Pragma"] == "no-cache"
    assert page.headers["Access-Control-Allow-Origin"] == "*"


async def test_a_public_client_proves_itself_with_the_verifier(
    user_browser: Browser, public: App
) -> None:
    proof = Proof()
    code = await code_for(user_browser, public, **proof.challenge)
    fields = {"client_id": public.id, "code": code, "code_verifier": proof.verifier}
    status, pair = await ask_tokens(user_browser, fields)
    assert status == 200
    fields = {"client_id": public.id, "grant_type": "refresh_token"}
    fields["refresh_token"] = pair["refresh_token"]
    assert (await ask_tokens(user_browser, fields))[0] == 200


async def test_a_replayed_code_ends_all_tokens(
    user_browser: Browser, client: Client, app: App
) -> None:
    fields = {**app.login, "code": await code_for(user_browser, app)}
    _, pair = await ask_tokens(user_browser, fields)
    _, second = await ask_tokens(user_browser, refreshing(app, pair))
    assert await works(client, pair)
    assert await refused(user_browser, fields) == "invalid_grant"
    await ended(client, pair)
    await ended(client, second)
    assert await refused(user_browser, refreshing(app, second)) == "invalid_grant"
    assert (await client.get("/profile/apps"))["results"] == 0


async def test_of_many_exchanges_at_once_one_works(
    user_browser: Browser, client: Client, app: App
) -> None:
    fields = {**app.login, "code": await code_for(user_browser, app)}
    answers = await asyncio.gather(*(ask_tokens(user_browser, fields) for _ in range(5)))
    (pair,) = (body for status, body in answers if status == 200)
    await ended(client, pair)


async def test_a_code_is_for_one_client(
    user_browser: Browser, client: Client, stranger: Client, app: App
) -> None:
    other = await register(stranger)
    code = await code_for(user_browser, app)
    assert await refused(user_browser, {**other.login, "code": code}) == "invalid_grant"
    assert (await ask_tokens(user_browser, {**app.login, "code": code}))[0] == 200


@pytest.mark.parametrize("code", ["0" * 64, "ä", "x" * 10_000, "' or true --"])
async def test_unknown_codes(browser: Browser, app: App, code: str) -> None:
    assert await refused(browser, {**app.login, "code": code}) == "invalid_grant"
    fields = {**app.login, "grant_type": "refresh_token", "refresh_token": code}
    assert await refused(browser, fields) == "invalid_grant"


@pytest.mark.parametrize(
    "verifier", [None, "", "0" * 64, "short", "plain", "a" * 129, "é" * 50, "upper"]
)
@pytest.mark.parametrize("is_public", [False, True])
async def test_pkce(
    user_browser: Browser, app: App, public: App, verifier: str | None, is_public: bool
) -> None:
    """A challenge that was sent needs its verifier; a wrong one gets nothing and spoils nothing."""
    client, proof = public if is_public else app, Proof()
    code = await code_for(user_browser, client, **proof.challenge)
    fields = {**client.login, "code": code}
    if verifier is not None:
        tricks = {"plain": proof.challenge["code_challenge"], "upper": proof.verifier.upper()}
        fields["code_verifier"] = tricks.get(verifier, verifier)
    assert await refused(user_browser, fields) == "invalid_grant"
    right = {**fields, "code_verifier": proof.verifier}
    assert (await ask_tokens(user_browser, right))[0] == 200


async def test_a_verifier_without_a_challenge(user_browser: Browser, app: App) -> None:
    """Somebody took the challenge out of the request (RFC 9700, 4.8)."""
    fields = {**app.login, "code": await code_for(user_browser, app)}
    downgraded = {**fields, "code_verifier": Proof().verifier}
    assert await refused(user_browser, downgraded) == "invalid_grant"


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/",
        f"{WEB}/",
        f"{WEB}x",
        WEB.replace("example.com", "example.com:443"),
        WEB.replace("app", "APP"),
        WEB.replace("done", "%64one"),
        WEB.replace("app.", "me@app."),
    ],
)
async def test_a_code_is_for_one_redirect_uri(user_browser: Browser, app: App, uri: str) -> None:
    fields = {**app.login, "code": await code_for(user_browser, app)}
    assert await refused(user_browser, {**fields, "redirect_uri": uri}) == "invalid_grant"
    assert (await ask_tokens(user_browser, {**fields, "redirect_uri": WEB}))[0] == 200


def basic(name: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


async def test_wrong_secrets(user_browser: Browser, client: Client, app: App) -> None:
    code = await code_for(user_browser, app)
    path = f"/account/oauth-clients/{app.id}"
    newer = App(app.id, (await client.post(f"{path}/reset-secret"))["secret"])
    redacted = (await client.get(path))["secret"]
    hashed = hash_token(newer.secret).hex()
    for secret in (app.secret, redacted, hashed, "", newer.secret.upper(), "x" * 9999, "é"):
        fields = {"client_id": app.id, "client_secret": secret, "code": code}
        assert await refused(user_browser, fields) == "invalid_client"
    assert await refused(user_browser, {"client_id": app.id, "code": code}) == "invalid_client"
    assert await refused(user_browser, {"code": code}) == "invalid_client"
    unknown = {"client_id": "0" * 20, "client_secret": newer.secret, "code": code}
    assert await refused(user_browser, unknown) == "invalid_client"
    assert (await ask_tokens(user_browser, {**newer.login, "code": code}))[0] == 200


@pytest.mark.parametrize(
    "header", ["Basic", "Basic !", "Basic AAAA", "Bearer x", "Basic /w==", "", "Basic JTAwOng="]
)
async def test_wrong_authorization_headers(browser: Browser, header: str) -> None:
    headers = {**FORM, "Authorization": header}
    page = await browser.send("POST", TOKEN, b"code=x", headers)
    assert (page.status, '"invalid_client"' in page.text) == (401, True)
    assert page.headers["WWW-Authenticate"] == 'Basic realm="roost"'


async def test_one_way_to_authenticate(browser: Browser, app: App, public: App) -> None:
    for body in (f"client_secret={app.secret}", f"client_id={public.id}"):
        headers = {**FORM, **basic(app.id, app.secret)}
        page = await browser.send("POST", TOKEN, body.encode(), headers)
        assert (page.status, '"invalid_request"' in page.text) == (400, True)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({}, "invalid_request"),
        ({"grant_type": "authorization_code"}, "invalid_request"),
        ({"grant_type": "refresh_token"}, "invalid_request"),
        ({"grant_type": "refresh_token", "code": "x"}, "invalid_request"),
    ],
)
async def test_requests_that_lack_something(
    browser: Browser, app: App, fields: dict[str, str], error: str
) -> None:
    assert await refused(browser, {**app.login, **fields}) == error


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (b"{}", {"Content-Type": "application/json"}),
        (b"code=x", {}),
        (b"code=a&code=b", FORM),
        (b"code=%00", FORM),
        (b"code=" + b"x" * 65536, FORM),
    ],
)
@pytest.mark.parametrize("path", [TOKEN, REVOKE])
async def test_other_bodies(
    browser: Browser, path: str, data: bytes, headers: dict[str, str]
) -> None:
    page = await browser.send("POST", path, data, headers)
    assert (page.status, '"invalid_request"' in page.text) == (400, True)
    assert (await browser.get(path)).status == 405


async def test_refresh(user_browser: Browser, client: Client, app: App) -> None:
    pair = await obtain(user_browser, app)
    for _ in range(3):
        status, newer = await ask_tokens(user_browser, refreshing(app, pair))
        assert status == 200
        assert newer["scope"] == newer["scopes"] == SCOPES
        assert newer["refresh_token"] != pair["refresh_token"]
        assert await works(client, newer)
        pair = newer


async def test_a_reused_refresh_token_ends_the_family(
    user_browser: Browser, client: Client, app: App
) -> None:
    other = await obtain(user_browser, app)
    pair = await obtain(user_browser, app)
    _, newer = await ask_tokens(user_browser, refreshing(app, pair))
    assert await works(client, newer)
    assert await refused(user_browser, refreshing(app, pair)) == "invalid_grant"
    await ended(client, newer)
    await ended(client, pair)
    assert await refused(user_browser, refreshing(app, newer)) == "invalid_grant"
    assert await works(client, other)


async def test_of_many_refreshes_at_once_one_works(
    user_browser: Browser, client: Client, app: App
) -> None:
    pair = await obtain(user_browser, app)
    answers = await asyncio.gather(
        *(ask_tokens(user_browser, refreshing(app, pair)) for _ in range(5))
    )
    (newer,) = (body for status, body in answers if status == 200)
    await ended(client, newer)


async def test_a_refresh_token_is_for_one_client(
    user_browser: Browser, client: Client, stranger: Client, app: App
) -> None:
    other, pair = await register(stranger), await obtain(user_browser, app)
    assert await refused(user_browser, refreshing(other, pair)) == "invalid_grant"
    used_as_access = {**pair, "access_token": pair["refresh_token"]}
    assert not await works(client, used_as_access)
    used_as_refresh = {**pair, "refresh_token": pair["access_token"]}
    assert await refused(user_browser, refreshing(app, used_as_refresh)) == "invalid_grant"
    assert (await ask_tokens(user_browser, refreshing(app, pair)))[0] == 200


@pytest.mark.parametrize(
    "scope",
    [
        "*",
        "computes:read_write",
        "computes:read_only events:read_only volumes:read_only",
        "account:read_only",
        "nonsense",
        "* computes:read_only",
    ],
)
async def test_scopes_are_never_widened(
    user_browser: Browser, client: Client, app: App, scope: str
) -> None:
    pair = await obtain(user_browser, app)
    for name in ("scope", "scopes"):
        wider = refreshing(app, pair, **{name: scope})
        assert await refused(user_browser, wider) == "invalid_scope"
    assert (await ask_tokens(user_browser, refreshing(app, pair)))[1]["scope"] == SCOPES


async def test_scopes_may_be_narrowed_for_a_while(
    user_browser: Browser, client: Client, app: App
) -> None:
    pair = await obtain(user_browser, app)
    narrow = refreshing(app, pair, scope="events:read_only")
    _, newer = await ask_tokens(user_browser, narrow)
    assert newer["scope"] == newer["scopes"] == "events:read_only"
    assert not await works(client, newer)
    _, wide = await ask_tokens(user_browser, refreshing(app, newer))
    assert wide["scope"] == SCOPES


async def test_everything_covers_anything(user_browser: Browser, app: App) -> None:
    pair = await obtain(user_browser, app, scope="*")
    _, newer = await ask_tokens(user_browser, refreshing(app, pair, scope="volumes:read_write"))
    assert newer["scope"] == "volumes:read_write"
    _, all_again = await ask_tokens(user_browser, refreshing(app, newer, scope="*"))
    assert all_again["scope"] == "*"


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_revoking_one_token_ends_all_of_its_family(
    user_browser: Browser, client: Client, app: App, name: str
) -> None:
    other, pair = await obtain(user_browser, app), await obtain(user_browser, app)
    assert await works(client, pair)
    fields = {**app.login, "token": pair[name], "token_type_hint": "nonsense"}
    assert await ask_tokens(user_browser, fields, REVOKE) == (200, {})
    await ended(client, pair)
    assert await refused(user_browser, refreshing(app, pair)) == "invalid_grant"
    assert await works(client, other)
    assert await ask_tokens(user_browser, fields, REVOKE) == (200, {})


async def test_only_the_client_itself_revokes(
    user_browser: Browser, client: Client, stranger: Client, app: App
) -> None:
    pair, other = await obtain(user_browser, app), await register(stranger)
    assert client.token is not None
    for fields in (
        {**other.login, "token": pair["access_token"]},
        {**app.login, "token": client.token},
        {**app.login, "token": "0" * 64},
    ):
        assert await ask_tokens(user_browser, fields, REVOKE) == (200, {})
    unproven = {"client_id": app.id, "token": pair["access_token"]}
    assert await refused(user_browser, unproven, REVOKE) == "invalid_client"
    assert await refused(user_browser, app.login, REVOKE) == "invalid_request"
    assert await works(client, pair)
    assert (await client.send("GET", "/profile")).status == 200


async def test_deleting_the_client_ends_its_tokens(
    user_browser: Browser, client: Client, app: App
) -> None:
    other = await register(client)
    pair, kept = await obtain(user_browser, app), await obtain(user_browser, other)
    assert await works(client, pair)
    await client.delete(f"/account/oauth-clients/{app.id}")
    await ended(client, pair)
    assert await refused(user_browser, refreshing(app, pair)) == "invalid_client"
    assert await works(client, kept)


async def test_the_user_takes_consent_back(user_browser: Browser, client: Client, app: App) -> None:
    pair = await obtain(user_browser, app)
    code = await code_for(user_browser, app)
    for row in (await client.get("/profile/apps"))["data"]:
        await client.delete(f"/profile/apps/{row['id']}")
    await ended(client, pair)
    assert await refused(user_browser, refreshing(app, pair)) == "invalid_grant"
    assert await refused(user_browser, {**app.login, "code": code}) == "invalid_grant"


async def test_nothing_is_kept_in_plain(user_browser: Browser, roost: Roost, app: App) -> None:
    code = await code_for(user_browser, app, state="canary-state")
    _, pair = await ask_tokens(user_browser, {**app.login, "code": code})
    tables = await roost.store.fetch(
        "select table_name from information_schema.tables where table_schema = 'public'"
    )
    cookie = user_browser.cookie("roost_session")
    secrets = [code, pair["access_token"], pair["refresh_token"], app.secret, cookie]
    for table in tables:
        rows = await roost.store.fetch(f"select t::text as row from {table['table_name']} t")
        text = "\n".join(row["row"] for row in rows)
        for secret in [*secrets, "canary-state"]:
            assert secret is not None
            assert secret not in text, table
            assert secret.encode().hex() not in text, table


async def test_the_consent_page_names_no_secret(
    user_browser: Browser, client: Client, app: App
) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(app))
    cookie = user_browser.cookie("roost_session")
    assert cookie is not None
    assert cookie not in page.text
    assert app.secret not in page.text
