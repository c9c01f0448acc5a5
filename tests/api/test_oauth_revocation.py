"""All that ends tokens: the client, its owner, and the user."""

import pytest

from tests.support.browser import Browser
from tests.support.client import Client
from tests.support.oauth import (
    REVOKE,
    App,
    Proof,
    ask_tokens,
    code_for,
    ended,
    obtain,
    refreshing,
    refused,
    register,
    works,
)

pytestmark = pytest.mark.spec("B auth 1", "B auth 3", "B account 8")

SCOPES = "computes:read_only events:read_only"


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


@pytest.mark.spec("B account 8 delete")
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


async def test_a_client_that_becomes_public_starts_over(
    user_browser: Browser, client: Client, app: App
) -> None:
    """What it got without PKCE would be worth as much to whoever finds it."""
    pair, code = await obtain(user_browser, app), await code_for(user_browser, app)
    path, bare = f"/account/oauth-clients/{app.id}", App(app.id, "")
    await client.put(path, {"label": "same", "public": False})
    _, pair = await ask_tokens(user_browser, refreshing(app, pair))
    await client.put(path, {"public": True})
    assert await refused(user_browser, {"client_id": app.id, "code": code}) == "invalid_grant"
    assert await refused(user_browser, refreshing(bare, pair)) == "invalid_grant"
    await ended(client, pair)
    await client.put(path, {"public": False})
    assert await refused(user_browser, {**app.login, "code": code}) == "invalid_grant"
    assert await refused(user_browser, refreshing(app, pair)) == "invalid_grant"
    assert await works(client, await obtain(user_browser, app))


async def test_a_client_that_gets_a_secret_starts_over(
    user_browser: Browser, client: Client
) -> None:
    app, proof = await register(client, public=True), Proof()
    code = await code_for(user_browser, app, **proof.challenge)
    await client.put(f"/account/oauth-clients/{app.id}", {"public": False})
    fields = {**app.login, "code": code, "code_verifier": proof.verifier}
    assert await refused(user_browser, fields) == "invalid_grant"
