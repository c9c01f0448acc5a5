"""Authorization requests that are refused: on a page for the person, or at the client."""

from urllib.parse import quote, urlencode

import pytest

from roost.app.roost import Roost
from tests.support.browser import Browser, Page
from tests.support.client import Client
from tests.support.oauth import AUTHORIZE, WEB, App, Proof, allow, consents, wish

pytestmark = pytest.mark.spec("B auth 3")


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


async def test_other_parameters_are_sent_once(user_browser: Browser, app: App) -> None:
    query = urlencode([*wish(app, state="s").items(), ("scope", "*")])
    answer = await user_browser.send("GET", f"{AUTHORIZE}?{query}")
    assert answer.answer["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "token"}, "unauthorized_client"),
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
    user_browser: Browser, app: App, changes: dict[str, str], error: str
) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(app, state="s", **changes))
    assert (page.status, (page.location or "").partition("?")[0]) == (303, WEB)
    assert page.answer["error"] == error
    assert page.answer["state"] == "s"
    assert page.answer["iss"] == user_browser.url
    assert set(page.answer) == {"error", "error_description", "state", "iss"}


async def test_nobody_is_sent_to_a_client_without_a_login(browser: Browser, app: App) -> None:
    """Or anyone who registers a client could borrow our name for a link to anywhere."""
    for changes in ({"response_type": "x"}, {"scope": "nonsense"}, {"code_challenge": "x"}):
        query = urlencode(wish(app, **changes))
        login = f"/login?{urlencode({'next': f'{AUTHORIZE}?{query}'})}"
        page = await browser.send("GET", f"{AUTHORIZE}?{query}")
        assert (page.status, page.location) == (303, login)
        page = await browser.post(f"{AUTHORIZE}?{query}", {"decision": "deny"})
        assert (page.status, page.location) == (303, login)


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


async def test_pkce_is_not_given_up_by_asking_for_a_token(
    user_browser: Browser, public: App
) -> None:
    asking = wish(public, response_type="token", **Proof().challenge)
    assert (await user_browser.get(AUTHORIZE, **asking)).answer["error"] == "invalid_request"


async def test_a_client_that_is_deleted_meanwhile(
    user_browser: Browser, client: Client, app: App
) -> None:
    page = await user_browser.get(AUTHORIZE, **wish(app))
    await client.delete(f"/account/oauth-clients/{app.id}")
    must_stay(await user_browser.submit(page, decision="allow"))


async def test_without_scopes_an_app_learns_who_the_user_is(
    user_browser: Browser, client: Client, app: App
) -> None:
    """As the URL of the reference's Python client asks; the page says what it is."""
    params = {name: value for name, value in wish(app).items() if name != "scope"}
    page = await user_browser.get(AUTHORIZE, **params)
    assert "Account: users, contact data" in page.text
    assert "See and change" not in page.text
    assert (await allow(user_browser, {**params, "scope": ""})).answer["code"]
    (row,) = (await client.get("/profile/apps"))["data"]
    assert row["scopes"] == "account:read_only"


async def test_a_client_whose_address_cannot_be_used_any_more(
    user_browser: Browser, roost: Roost, app: App
) -> None:
    """Addresses that were registered before the rules for them were as strict."""
    for uri in ("http://a:\u0661\u0662/", "https://[:::]/", "https://app.example.com:99999/"):
        await roost.store.execute(
            "update oauth_client set redirect_uri = $2 where id = $1", app.id, uri
        )
        must_stay(await user_browser.get(AUTHORIZE, **wish(app)))
