"""Refresh tokens: each works once, for its client, and never for more than was allowed."""

import asyncio

import pytest

from tests.support.browser import Browser
from tests.support.client import Client
from tests.support.oauth import (
    App,
    ask_tokens,
    ended,
    obtain,
    refreshing,
    refused,
    register,
    works,
)

pytestmark = pytest.mark.spec("B auth 1", "B auth 3", "B account 8")

SCOPES = "computes:read_only events:read_only"


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
