"""The consent page: who may ask, what the user reads, and where the answer goes."""

import html
import re
from urllib.parse import quote, urlencode

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.browser import Browser, Page
from tests.support.client import Client
from tests.support.oauth import AUTHORIZE, WEB, App, Proof, allow, ask_tokens, register, wish
from tests.support.pictures import picture

pytestmark = pytest.mark.spec("B auth 3")

APP = "com.example.app:/done"


@pytest.fixture
async def app(client: Client) -> App:
    return await register(client)


@pytest.fixture
async def public(client: Client) -> App:
    return await register(client, public=True, redirect_uri=APP)


async def consents(client: Client) -> int:
    return int((await client.get("/profile/apps"))["results"])


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


def must_stay(page: Page) -> None:
    """An error page, and no way to anywhere."""
    assert (page.status, page.title) == (400, "Unknown application")
    assert page.location is None
    assert "evil" not in page.text
    assert page.forms == []


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/done",
        f"{WEB}/more",
        f"{WEB}/",
        f"{WEB}?a=b",
        f"{WEB}#a",
        WEB[:-1],
        WEB.replace("https", "http"),
        WEB.replace("example.com", "example.com:443"),
        WEB.replace("example.com", "example.com:8443"),
        WEB.replace("example.com", "example.com."),
        WEB.replace("example.com", "example.com.evil.example"),
        WEB.replace("example.com", "example.com@evil.example"),
        WEB.replace("app.", "evil@app."),
        WEB.replace("app.", ""),
        WEB.replace("app", "APP"),
        WEB.replace("done", "Done"),
        WEB.replace("done", "%64one"),
        WEB.replace("done", "./done"),
        WEB.replace("done", "x/../done"),
        WEB.replace("/done", "\\done"),
        f" {WEB}",
        f"{WEB} ",
        f"{WEB}\n",
        f"{WEB}\t",
        f"{WEB},https://evil.example",
        quote(WEB, safe=""),
        "//app.example.com/done",
        "javascript:alert(1)",
    ],
)
async def test_redirect_uris_that_are_not_exactly_the_registered_one(
    user_browser: Browser, client: Client, app: App, uri: str
) -> None:
    """Not even errors are sent there."""
    for scope in ("events:read_only", "nonsense"):
        must_stay(await user_browser.get(AUTHORIZE, **wish(app, redirect_uri=uri, scope=scope)))
    page = await user_browser.get(AUTHORIZE, **wish(app))
    query = urlencode(wish(app, redirect_uri=uri))
    fields = {**page.forms[0].fields, "decision": "allow"}
    must_stay(await user_browser.post(f"{AUTHORIZE}?{query}", fields))
    assert await consents(client) == 0


@pytest.mark.parametrize("client_id", ["", "0" * 20, "' or true --", "ä", "x" * 5000])
async def test_unknown_clients(browser: Browser, client_id: str) -> None:
    params = {
        "client_id": client_id,
        "response_type": "code",
        "redirect_uri": "https://evil.example",
    }
    must_stay(await browser.get(AUTHORIZE, **params))


async def test_a_disabled_client_is_unknown(browser: Browser, roost: Roost, app: App) -> None:
    await roost.store.execute("update oauth_client set status = 'disabled' where id = $1", app.id)
    must_stay(await browser.get(AUTHORIZE, **wish(app)))


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
async def test_who_asks_is_said_once(browser: Browser, app: App, name: str) -> None:
    query = urlencode([*wish(app, redirect_uri=WEB).items(), (name, "https://evil.example/")])
    must_stay(await browser.send("GET", f"{AUTHORIZE}?{query}"))


async def test_other_parameters_are_sent_once(browser: Browser, app: App) -> None:
    query = urlencode([*wish(app, state="s").items(), ("scope", "*")])
    answer = await browser.send("GET", f"{AUTHORIZE}?{query}")
    assert answer.answer["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"scope": ""}, "invalid_scope"),
        ({"scope": "nonsense"}, "invalid_scope"),
        ({"scope": "computes:write"}, "invalid_scope"),
        ({"scope": "computes:read_only nonsense:read_only"}, "invalid_scope"),
        ({"scope": "* computes:read_only"}, "invalid_scope"),
        ({"scope": "Computes:read_only"}, "invalid_scope"),
        ({"scopes": "*"}, "invalid_request"),
        ({"code_challenge": Proof().verifier[:43]}, "invalid_request"),
        ({"code_challenge": "c" * 43, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "c" * 43, "code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge": "c" * 42, "code_challenge_method": "S256"}, "invalid_request"),
        ({"code_challenge": "c" * 44, "code_challenge_method": "S256"}, "invalid_request"),
        ({"code_challenge": "=" * 43, "code_challenge_method": "S256"}, "invalid_request"),
        ({"code_challenge_method": "S256"}, "invalid_request"),
    ],
)
async def test_refusals_go_to_the_client(
    browser: Browser, app: App, changes: dict[str, str], error: str
) -> None:
    """Also without a login: nothing is learnt from them."""
    page = await browser.get(AUTHORIZE, **wish(app, state="s", **changes))
    assert (page.status, (page.location or "").partition("?")[0]) == (303, WEB)
    assert page.answer["error"] == error
    assert page.answer["state"] == "s"
    assert page.answer["iss"] == browser.url
    assert set(page.answer) == {"error", "error_description", "state", "iss"}


@pytest.mark.parametrize(
    "challenge",
    [
        {},
        {"code_challenge": "c" * 43},
        {"code_challenge": "c" * 43, "code_challenge_method": "plain"},
    ],
)
async def test_public_clients_must_use_pkce(
    user_browser: Browser, public: App, challenge: dict[str, str]
) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(public, **challenge))
    assert page.answer["error"] == "invalid_request"
    assert (await allow(user_browser, wish(public, **Proof().challenge))).answer["code"]


async def test_a_public_client_gets_a_token_in_the_fragment(
    user_browser: Browser, client: Client, public: App
) -> None:
    """The reference's flow: two hours, no refresh token."""
    asking = wish(public, response_type="token", state="s t")
    page = await user_browser.get(AUTHORIZE, **asking)
    assert "Access lasts for two hours" in page.text
    page = await user_browser.submit(page, decision="allow")
    assert (page.location or "").startswith(f"{APP}#access_token=")
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
    assert (denied.location or "").startswith(f"{APP}#error=invalid_scope&")


async def test_pkce_is_not_given_up_by_asking_for_a_token(
    user_browser: Browser, public: App
) -> None:
    asking = wish(public, response_type="token", **Proof().challenge)
    assert (await user_browser.get(AUTHORIZE, **asking)).answer["error"] == "invalid_request"


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


async def test_a_client_that_is_deleted_meanwhile(
    user_browser: Browser, client: Client, app: App
) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(app))
    await client.delete(f"/account/oauth-clients/{app.id}")
    must_stay(await user_browser.submit(page, decision="allow"))
