"""How clients prove who they are, and requests that are none."""

import base64

import pytest

from roost.secrets import hash_token
from tests.support.browser import FORM, Browser
from tests.support.client import Client
from tests.support.oauth import (
    REVOKE,
    TOKEN,
    App,
    ask_tokens,
    code_for,
    refused,
)

pytestmark = pytest.mark.spec("B auth 1", "B auth 3", "B account 8")

SCOPES = "computes:read_only events:read_only"


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
