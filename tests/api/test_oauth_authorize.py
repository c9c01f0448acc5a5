"""The consent page: who may ask, what the user reads, and where the answer goes."""

import html
import re
from urllib.parse import urlencode

import pytest

from tests.api.conftest import Account
from tests.support.browser import Browser, Page
from tests.support.client import Client
from tests.support.oauth import (
    AUTHORIZE,
    PHONE,
    WEB,
    App,
    Proof,
    allow,
    ask_tokens,
    consents,
    register,
    wish,
)
from tests.support.pictures import picture

pytestmark = pytest.mark.spec("B auth 3")


def shown(page: Page) -> list[str]:
    """The headings and lines of what is wished for."""
    return [html.unescape(found) for found in re.findall(r"<(?:h2 .*?|li)>(.*?)</", page.text)]


async def test_what_a_user_reads(user_browser: Browser, app: App, account: Account) -> None:
    scopes = "events:read_only computes:read_write domains:read_only,volumes:read_write"
    page = await user_browser.get(AUTHORIZE, **wish(app, scope=scopes))
    assert (page.status, page.title) == (200, "Allow app?")
    assert shown(page) == [
        "See and change",
        "Compute instances",
        "Volumes",
        "See only",
        "Domains and their records",
        "Events",
    ]
    assert f"<bdi>{WEB}</bdi>" in page.text
    assert f"<strong>{account.username}</strong>" in page.text
    assert "<img" not in page.text
    assert "Access lasts until you take it back" in page.text


async def test_everything_is_said_to_be_everything(user_browser: Browser, app: App) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(app, scope="*"))
    assert shown(page) == ["See and change", "Everything in your account"]


async def test_the_look_of_a_client(user_browser: Browser, client: Client, app: App) -> None:
    path = f"/account/oauth-clients/{app.id}"
    await client.send("PUT", f"{path}/thumbnail", None, {"Content-Type": "image/png"}, picture())
    label = "<script>alert(1)</script>\u202e&"
    await client.put(path, {"label": label})
    page = await user_browser.get(AUTHORIZE, **wish(app))
    assert f'<img src="/v4{path}/thumbnail" alt="">' in page.text
    assert f"<bdi>{html.escape(label)}</bdi>" in page.text
    assert "<script" not in page.text


async def test_the_form_may_lead_to_the_client_only(
    user_browser: Browser, client: Client, app: App, public: App
) -> None:
    local = await register(client, redirect_uri="http://[::1]:8080/done")
    for asking, target in (
        (wish(app), "https://app.example.com"),
        (wish(public, **Proof().challenge), "com.example.app:"),
        (wish(local), "http:"),
    ):
        page = await user_browser.get(AUTHORIZE, **asking)
        policy = page.headers["Content-Security-Policy"]
        assert f"; form-action 'self' {target}; frame-ancestors 'none'" in policy


@pytest.mark.spec("B oauth-clients redirect_uri")
async def test_allow(user_browser: Browser, client: Client, app: App) -> None:
    answer = await allow(user_browser, wish(app, state="s"))
    assert answer.status == 303
    assert (answer.location or "").startswith(f"{WEB}?")
    assert set(answer.answer) == {"code", "state", "iss"}
    assert re.fullmatch("[0-9a-f]{64}", answer.answer["code"])
    assert answer.answer["iss"] == user_browser.url
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    (row,) = (await client.get("/profile/apps"))["data"]
    assert row["scopes"] == "computes:read_only events:read_only"


@pytest.mark.parametrize("decision", ["deny", "", "ALLOW"])
async def test_deny(user_browser: Browser, client: Client, app: App, decision: str) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(app))
    answer = await user_browser.submit(page, decision=decision)
    assert answer.answer["error"] == "access_denied"
    assert await consents(client) == 0


@pytest.mark.parametrize(
    "state", ["x", "a b+c&d=e#f?g%20", "ä\N{PILE OF POO}", "\r\nX: y", "0" * 2000, "\"'<>`"]
)
async def test_the_state_comes_back_as_it_was_sent(
    user_browser: Browser, app: App, state: str
) -> None:
    assert (await allow(user_browser, wish(app, state=state))).answer["state"] == state
    answer = await user_browser.get(AUTHORIZE, **wish(app, state=state, scope="nonsense"))
    assert answer.answer["state"] == state


async def test_without_a_state_none_is_made_up(user_browser: Browser, app: App) -> None:
    assert set((await allow(user_browser, wish(app))).answer) == {"code", "iss"}
    assert set((await allow(user_browser, wish(app, state=""))).answer) == {"code", "iss"}


async def test_a_redirect_uri_with_a_query_keeps_it(user_browser: Browser, client: Client) -> None:
    app = await register(client, redirect_uri=f"{WEB}?a=1;b=%2f")
    answer = await allow(user_browser, wish(app))
    assert (answer.location or "").startswith(f"{WEB}?a=1;b=%2f&code=")


async def test_scopes_may_be_called_so(user_browser: Browser, client: Client, app: App) -> None:
    """As clients of the reference do."""
    asking = wish(app, scopes="computes:read_only,events:read_only")
    del asking["scope"]
    await allow(user_browser, asking)
    (row,) = (await client.get("/profile/apps"))["data"]
    assert row["scopes"] == "computes:read_only events:read_only"


async def test_the_redirect_uri_may_be_left_out_or_named(user_browser: Browser, app: App) -> None:
    for asking in (wish(app), wish(app, redirect_uri=WEB)):
        answer = await allow(user_browser, asking)
        assert (answer.location or "").startswith(f"{WEB}?code=")


@pytest.mark.spec("B auth 3 public")
async def test_a_public_client_gets_a_token_in_the_fragment(
    user_browser: Browser, client: Client, public: App
) -> None:
    """The reference's flow: two hours, no refresh token."""
    asking = wish(public, response_type="token", state="s t")
    page = await user_browser.get(AUTHORIZE, **asking)
    assert "Access lasts for two hours" in page.text
    page = await user_browser.submit(page, decision="allow")
    assert (page.location or "").startswith(f"{PHONE}#access_token=")
    answer = page.answer
    assert {name: answer[name] for name in answer if name != "access_token"} == {
        "token_type": "bearer",
        "expires_in": "7200",
        "scope": "computes:read_only events:read_only",
        "scopes": "computes:read_only events:read_only",
        "state": "s t",
        "iss": user_browser.url,
    }
    user = client.as_user(answer["access_token"])
    assert (await user.get("/compute/instances"))["results"] == 0
    assert (await user.send("GET", "/account")).status == 401
    assert page.headers["Cache-Control"] == "no-store"
    (row,) = (await client.get("/profile/apps"))["data"]
    assert row["expiry"] is not None
    denied = await user_browser.get(AUTHORIZE, **{**asking, "scope": "nonsense"})
    assert (denied.location or "").startswith(f"{PHONE}#error=invalid_scope&")


@pytest.mark.parametrize("csrf", ["", "0" * 64])
async def test_forms_of_other_sites_allow_nothing(
    user_browser: Browser, client: Client, app: App, csrf: str
) -> None:
    path = f"{AUTHORIZE}?{urlencode(wish(app))}"
    page = await user_browser.post(path, {"decision": "allow", "csrf": csrf})
    assert (page.status, page.location) == (403, None)
    assert page.error is not None
    assert await consents(client) == 0
    assert (await user_browser.submit(page, decision="allow")).answer["code"]


async def test_nobody_allows_anything_without_a_login(
    browser: Browser, client: Client, app: App
) -> None:
    form = (await browser.get("/login")).forms[0]
    path = f"{AUTHORIZE}?{urlencode(wish(app))}"
    page = await browser.post(path, {"csrf": form.fields["csrf"], "decision": "allow"})
    assert page.location == f"/login?{urlencode({'next': path})}"
    assert await consents(client) == 0


async def test_what_was_read_is_what_is_allowed(
    user_browser: Browser, client: Client, app: App
) -> None:
    """Fields of the form can't widen it: the request is in the address."""
    page = await user_browser.get(AUTHORIZE, **wish(app))
    await user_browser.submit(
        page, decision="allow", scope="*", redirect_uri="https://evil.example"
    )
    (row,) = (await client.get("/profile/apps"))["data"]
    assert row["scopes"] == "computes:read_only events:read_only"


async def test_users_of_other_accounts_may_allow_too(
    user_browser: Browser, stranger: Client, client: Client
) -> None:
    app = await register(stranger)
    code = (await allow(user_browser, wish(app, scope="account:read_only"))).answer["code"]
    _, pair = await ask_tokens(user_browser, {**app.login, "code": code})
    seen = await client.as_user(pair["access_token"]).get("/profile")
    assert seen["username"] == (await client.get("/profile"))["username"]
