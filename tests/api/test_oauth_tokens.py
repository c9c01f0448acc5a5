"""The token and revocation endpoints, and all that may not get a token."""

import asyncio
import base64
import json
import re

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.browser import FORM, Browser
from tests.support.client import Client
from tests.support.forms import FormPart, form
from tests.support.oauth import (
    AUTHORIZE,
    TOKEN,
    WEB,
    App,
    Proof,
    ask_tokens,
    code_for,
    ended,
    obtain,
    refreshing,
    refused,
    register,
    wish,
    works,
)

pytestmark = pytest.mark.spec("B auth 1", "B auth 3", "B account 8")

PART = b'--x\r\nContent-Disposition: form-data; name="code"\r\n\r\nb\r\n'
SCOPES = "computes:read_only events:read_only"


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


@pytest.mark.spec("B auth 3 public")
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


async def test_a_form_may_have_parts(user_browser: Browser, client: Client, app: App) -> None:
    """As `curl -F` sends it."""
    code = await code_for(user_browser, app)
    fields = {**app.login, "code": code}
    content_type, data = form(*(FormPart(None, v.encode(), k) for k, v in fields.items()))
    page = await user_browser.send("POST", TOKEN, data, {"Content-Type": content_type})
    assert page.status == 200
    assert await works(client, json.loads(page.text))


@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("multipart/form-data", b""),
        ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
        (
            "multipart/form-data; boundary=x",
            PART.replace(b'"\r', b'"; filename="a"\r') + b"--x--\r\n",
        ),
        (
            "multipart/form-data; boundary=x",
            PART.replace(b"b\r\n", b"\xff\r\n") + b"--x--\r\n",
        ),
        (
            "multipart/form-data; boundary=x",
            PART * 51 + b"--x--\r\n",
        ),
        ("multipart/form-data; boundary=x", b"x" * 70_000),
        ("multipart/mixed; boundary=x", b"--x--\r\n"),
    ],
)
async def test_forms_in_parts_that_are_none(
    browser: Browser, content_type: str, data: bytes
) -> None:
    page = await browser.send("POST", TOKEN, data, {"Content-Type": content_type})
    assert (page.status, json.loads(page.text)["error"]) == (400, "invalid_request")


async def test_a_code_is_void_when_the_clients_address_changes(
    user_browser: Browser, client: Client, app: App
) -> None:
    code = await code_for(user_browser, app)
    path = f"/account/oauth-clients/{app.id}"
    await client.put(path, {"redirect_uri": "https://new.example.com/done"})
    fields = {**app.login, "code": code}
    assert await refused(user_browser, fields) == "invalid_grant"
    assert await refused(user_browser, {**fields, "redirect_uri": WEB}) == "invalid_grant"
    await client.put(path, {"redirect_uri": WEB})
    assert (await ask_tokens(user_browser, fields))[0] == 200
