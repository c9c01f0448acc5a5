"""OAuth clients, users with passwords, and consents through the pages."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from roost.app.roost import Roost
from roost.ids import new_token
from roost.resources.users.queries import set_password
from roost.secrets import hash_password
from roost.store import Store
from tests.support.browser import Browser, Page
from tests.support.client import Client, Json

PASSWORD = "correct horse battery staple"
WEB = "https://app.example.com/done"
PHONE = "com.example.app:/done"
TOKEN, REVOKE, AUTHORIZE = "/oauth/token", "/oauth/revoke", "/oauth/authorize"


@cache
def password_hash() -> str:
    return hash_password(PASSWORD)


async def give_password(store: Store, username: str, password: str = PASSWORD) -> None:
    """Set long ago."""
    hashed = password_hash() if password == PASSWORD else hash_password(password)
    assert await set_password(store, username, hashed, datetime(2020, 1, 1))


@dataclass(frozen=True, slots=True)
class App:
    """A registered client."""

    id: str
    secret: str
    redirect_uri: str = WEB

    @property
    def login(self) -> dict[str, str]:
        return {"client_id": self.id, "client_secret": self.secret}


async def register(client: Client, **changes: object) -> App:
    body = {"label": "app", "redirect_uri": WEB, **changes}
    made = await client.post("/account/oauth-clients", body)
    path = f"/account/oauth-clients/{made['id']}/reset-secret"
    return App(made["id"], (await client.post(path))["secret"], made["redirect_uri"])


@dataclass(frozen=True, slots=True)
class Proof:
    """PKCE with S256."""

    verifier: str = field(default_factory=new_token)

    @property
    def challenge(self) -> dict[str, str]:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        return {"code_challenge": challenge, "code_challenge_method": "S256"}


def wish(app: App, **changes: str) -> dict[str, str]:
    """Parameters of an authorization request."""
    return {
        "client_id": app.id,
        "response_type": "code",
        "scope": "computes:read_only events:read_only",
        **changes,
    }


async def allow(browser: Browser, params: Mapping[str, str]) -> Page:
    """Allow a request as the user who is logged in."""
    page = await browser.get(AUTHORIZE, **params)
    assert page.status == 200, page.location
    return await browser.submit(page, decision="allow")


async def ask_tokens(
    browser: Browser, fields: Mapping[str, str], path: str = TOKEN
) -> tuple[int, Json]:
    page = await browser.post(path, fields)
    assert page.headers["Content-Type"] == "application/json"
    assert page.headers["Cache-Control"] == "no-store"
    return page.status, json.loads(page.text)


async def refused(browser: Browser, fields: Mapping[str, str], path: str = TOKEN) -> str:
    """The error of a request that is refused."""
    status, body = await ask_tokens(browser, fields, path)
    assert status == (401 if body["error"] == "invalid_client" else 400)
    assert set(body) == {"error", "error_description"}
    return str(body["error"])


async def obtain(browser: Browser, app: App, **changes: str) -> Json:
    """A pair of tokens for an app with a secret."""
    code = (await allow(browser, wish(app, **changes))).answer["code"]
    status, pair = await ask_tokens(browser, {**app.login, "code": code})
    assert status == 200, pair
    return pair


async def code_for(browser: Browser, app: App, **changes: str) -> str:
    return (await allow(browser, wish(app, **changes))).answer["code"]


def refreshing(app: App, pair: Json, **changes: str) -> dict[str, str]:
    """The form of a refresh."""
    token = pair["refresh_token"]
    return {**app.login, "grant_type": "refresh_token", "refresh_token": token, **changes}


async def works(client: Client, pair: Mapping[str, str]) -> bool:
    """Whether the access token is good for a GET that most tests allow."""
    answer = await client.as_user(pair["access_token"]).send("GET", "/compute/instances")
    return answer.status == 200


async def ended(client: Client, pair: Mapping[str, str]) -> None:
    """That the access token is good for nothing, from now on."""
    assert not await works(client, pair)


async def consents(client: Client) -> int:
    return int((await client.get("/profile/apps"))["results"])


async def sessions(store: Store, user_id: int) -> int:
    count: int = await store.fetchval(
        "select count(*) from web_session where user_id = $1", user_id
    )
    return count


async def is_in(browser: Browser) -> bool:
    """Whether somebody is logged in."""
    return (await browser.get("/login")).title == "Logged in"


async def fill(roost: Roost, count: int, username: str, ip: str) -> None:
    """Failed attempts of a moment ago."""
    await roost.store.execute(
        "insert into login_attempt (username, ip, tried)"
        " select sha256(convert_to($1, 'UTF8')), $2, $3 from generate_series(1, $4)",
        username,
        ip,
        roost.clock.now() - timedelta(seconds=1),
        count,
    )
