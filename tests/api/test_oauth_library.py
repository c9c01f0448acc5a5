"""A standard OAuth client library against a running server: code with PKCE, refresh, revocation."""

import json

import pytest
from authlib.integrations.httpx_client import AsyncOAuth2Client, OAuthError
from authlib.oauth2.rfc6749.errors import MismatchingStateException

from roost.ids import new_token
from tests.support.browser import Browser
from tests.support.client import Client, Json
from tests.support.oauth import App, register

pytestmark = pytest.mark.spec("B auth 3")

SCOPE = "computes:read_only account:read_only"


async def metadata(browser: Browser) -> Json:
    """RFC 8414."""
    return json.loads((await browser.get("/.well-known/oauth-authorization-server")).text)


def library(app: App, method: str, described: Json) -> AsyncOAuth2Client:
    return AsyncOAuth2Client(
        app.id,
        None if method == "none" else app.secret,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        scope=SCOPE,
        redirect_uri=app.redirect_uri,
        code_challenge_method="S256",
        token_endpoint=described["token_endpoint"],
    )


async def test_the_server_describes_itself(browser: Browser) -> None:
    described = await metadata(browser)
    assert described["issuer"] == browser.url
    for name in ("authorization", "token", "revocation"):
        assert described[f"{name}_endpoint"].startswith(f"{browser.url}/oauth/")
    assert described["code_challenge_methods_supported"] == ["S256"]
    assert {"*", "computes:read_only", "vpc:read_write"} <= set(described["scopes_supported"])


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic", "none"])
async def test_code_with_pkce_and_refresh(
    user_browser: Browser, client: Client, method: str
) -> None:
    app = await register(client, public=method == "none")
    described = await metadata(user_browser)
    assert method in described["token_endpoint_auth_methods_supported"]
    verifier = new_token()
    async with library(app, method, described) as user:
        url, state = user.create_authorization_url(
            described["authorization_endpoint"], code_verifier=verifier
        )
        page = await user_browser.get(url.removeprefix(user_browser.url))
        answer = await user_browser.submit(page, decision="allow")
        token = await user.fetch_token(
            authorization_response=answer.location, state=state, code_verifier=verifier
        )
        assert (token["scope"], token["expires_in"]) == (SCOPE, 7200)
        profile = await user.get(f"{user_browser.url}/v4/profile")
        assert profile.json() == await client.get("/profile")
        former = dict(token)
        newer = await user.refresh_token(described["token_endpoint"])
        assert newer["access_token"] != former["access_token"]
        assert (await user.get(f"{user_browser.url}/v4/account")).status_code == 200
        revoked = await user.revoke_token(
            described["revocation_endpoint"], token=newer["refresh_token"]
        )
        assert revoked.status_code == 200
        with pytest.raises(OAuthError, match="invalid_grant"):
            await user.refresh_token(described["token_endpoint"], newer["refresh_token"])


async def test_the_library_refuses_another_state(user_browser: Browser, client: Client) -> None:
    """The state that it checks is the one that comes back."""
    app, described = await register(client), await metadata(user_browser)
    async with library(app, "client_secret_post", described) as user:
        url, _ = user.create_authorization_url(
            described["authorization_endpoint"], code_verifier=new_token()
        )
        page = await user_browser.get(url.removeprefix(user_browser.url))
        answer = await user_browser.submit(page, decision="allow")
        with pytest.raises(MismatchingStateException):
            await user.fetch_token(authorization_response=answer.location, state="another")
