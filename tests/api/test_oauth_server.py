"""OAuth around a whole server: time, several processes, https, and the log."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest

from roost.oauth import login
from roost.oauth.consent import CODE_LIFE
from roost.oauth.issue import REFRESH_LIFE
from roost.oauth.sessions import SECOND_FACTOR_LIFE, SESSION_LIFE
from roost.oauth.throttle import MAX_TOGETHER, WINDOW
from tests.support.browser import FORM, Browser, Page, open_browser
from tests.support.client import Client, Json, until
from tests.support.lab import Lab, running_lab
from tests.support.oauth import (
    AUTHORIZE,
    PASSWORD,
    REVOKE,
    App,
    allow,
    ask_tokens,
    give_password,
    obtain,
    refreshing,
    refused,
    register,
    wish,
)

MOMENT = timedelta(seconds=30)
"""More than a test takes, less than anything that ends."""


@pytest.fixture
async def lab(tmp_path: Path, database_url: str) -> AsyncIterator[Lab]:
    async with running_lab(tmp_path, database_url) as lab:
        await give_password(lab.running.roost.store, "admin")
        yield lab


@pytest.fixture
async def visitor(lab: Lab) -> AsyncIterator[Browser]:
    """Nobody yet."""
    async with open_browser(lab.running.url) as browser:
        yield browser


@pytest.fixture
async def admin(visitor: Browser) -> Browser:
    assert (await visitor.log_in("admin", PASSWORD)).location == "/login"
    return visitor


@pytest.fixture
async def app(lab: Lab) -> App:
    return await register(lab.api)


async def pass_time(lab: Lab, by: timedelta) -> None:
    await lab.put("/clock", {"advance": by.total_seconds()})


async def status_of(client: Client, pair: Json) -> int:
    return (await client.as_user(pair["access_token"]).send("GET", "/profile")).status


async def test_codes_live_for_ten_minutes(lab: Lab, admin: Browser, app: App) -> None:
    assert timedelta(minutes=10) == CODE_LIFE
    code = (await allow(admin, wish(app))).answer["code"]
    await pass_time(lab, CODE_LIFE - MOMENT)
    other = (await allow(admin, wish(app))).answer["code"]
    assert (await ask_tokens(admin, {**app.login, "code": code}))[0] == 200
    await pass_time(lab, CODE_LIFE)
    assert await refused(admin, {**app.login, "code": other}) == "invalid_grant"


async def test_a_consent_without_its_code_is_none(lab: Lab, admin: Browser, app: App) -> None:
    await allow(admin, wish(app))
    await pass_time(lab, CODE_LIFE)
    assert (await lab.api.get("/profile/apps"))["results"] == 0


async def test_access_tokens_live_for_two_hours(lab: Lab, admin: Browser, app: App) -> None:
    pair = await obtain(admin, app)
    await pass_time(lab, timedelta(hours=2) - MOMENT)
    assert await status_of(lab.api, pair) == 200
    await pass_time(lab, MOMENT)
    assert await status_of(lab.api, pair) == 401
    _, newer = await ask_tokens(admin, refreshing(app, pair))
    assert await status_of(lab.api, newer) == 200


async def test_refresh_tokens_live_for_ninety_days(lab: Lab, admin: Browser, app: App) -> None:
    pair = await obtain(admin, app)
    await pass_time(lab, REFRESH_LIFE - MOMENT)
    assert (await lab.api.get("/profile/apps"))["results"] == 1
    status, newer = await ask_tokens(admin, refreshing(app, pair))
    assert status == 200
    await pass_time(lab, REFRESH_LIFE)
    assert (await lab.api.get("/profile/apps"))["results"] == 0
    assert await refused(admin, refreshing(app, newer)) == "invalid_grant"


async def test_sessions_end(lab: Lab, admin: Browser, app: App) -> None:
    await pass_time(lab, SESSION_LIFE - MOMENT)
    assert (await admin.get(AUTHORIZE, **wish(app))).status == 200
    await pass_time(lab, MOMENT)
    assert (await admin.get(AUTHORIZE, **wish(app))).status == 303
    assert (await admin.get("/login")).title == "Log in"


async def test_the_second_factor_must_come_soon(lab: Lab, visitor: Browser) -> None:
    await lab.running.roost.store.execute("update api_user set tfa_enabled = true")
    await visitor.log_in("admin", PASSWORD)
    await pass_time(lab, SECOND_FACTOR_LIFE - MOMENT)
    assert (await visitor.get("/login/second-factor")).status == 200
    await pass_time(lab, MOMENT)
    assert (await visitor.get("/login/second-factor")).location == "/login"


async def test_a_locked_user_waits_a_quarter_of_an_hour(lab: Lab, visitor: Browser) -> None:
    for _ in range(MAX_TOGETHER):
        assert (await visitor.log_in("admin", "wrong")).error == login.WRONG
    assert (await visitor.log_in("admin", PASSWORD)).error == login.TOO_OFTEN
    await pass_time(lab, WINDOW - MOMENT)
    assert (await visitor.log_in("admin", PASSWORD)).error == login.TOO_OFTEN
    await pass_time(lab, MOMENT)
    assert (await visitor.log_in("admin", PASSWORD)).status == 303


async def test_old_things_are_forgotten_at_night(lab: Lab, admin: Browser, app: App) -> None:
    await obtain(admin, app)
    await pass_time(lab, REFRESH_LIFE + timedelta(days=32))

    async def left() -> int:
        count: int = await lab.running.roost.store.fetchval(
            "select (select count(*) from authorized_app) + (select count(*) from web_session)"
            " + (select count(*) from token where kind = 'oauth')"
        )
        return count

    assert await until(left, lambda count: count == 0) == 0


@pytest.mark.usefixtures("long_memory")
@pytest.mark.parametrize("ending", ["revocation", "deletion"])
async def test_all_processes_know_at_once(tmp_path: Path, database_url: str, ending: str) -> None:
    """Sessions, codes and tokens of one are good in the other, until one ends them."""
    async with (
        running_lab(tmp_path, database_url, lab=False) as one,
        running_lab(tmp_path, database_url, lab=False, worker=False) as two,
        open_browser(one.running.url) as browser,
    ):
        await give_password(one.running.roost.store, "admin")
        await browser.log_in("admin", PASSWORD)
        app = await register(one.api)
        pair = await obtain(browser.elsewhere(two.running.url), app)
        assert [await status_of(lab.api, pair) for lab in (one, two)] == [200, 200]
        if ending == "revocation":
            fields = {**app.login, "token": pair["refresh_token"]}
            assert await ask_tokens(browser, fields, REVOKE) == (200, {})
        else:
            await one.api.delete(f"/account/oauth-clients/{app.id}")

        async def everywhere() -> list[int]:
            return [await status_of(lab.api, pair) for lab in (one, two)]

        await until(everywhere, lambda seen: seen == [401, 401])


async def test_over_https(tmp_path: Path, database_url: str) -> None:
    """Behind a proxy: cookies that only this host may set, and only https brings back."""
    public = "https://cloud.example.com"
    async with (
        running_lab(tmp_path, database_url, public_url=public, lab=False) as lab,
        open_browser(lab.running.url) as browser,
    ):
        page = await browser.get("/login")
        (cookie,) = page.headers.getall("Set-Cookie")
        assert cookie.startswith("__Host-roost_session=")
        assert cookie.endswith("; HttpOnly; Path=/; SameSite=lax; Secure")
        described = await browser.get("/.well-known/oauth-authorization-server")
        assert f'"issuer":"{public}"' in described.text
        await give_password(lab.running.roost.store, "admin")
        fields = {**page.forms[0].fields, "username": "admin", "password": PASSWORD}
        entered = await browser.send("POST", "/login", urlencode(fields).encode(), kept(page))
        query = urlencode(wish(await register(lab.api), scope="nonsense"))
        refusal = await browser.send("GET", f"{AUTHORIZE}?{query}", headers=kept(entered))
        assert refusal.answer["iss"] == public


def kept(page: Page) -> dict[str, str]:
    """Headers with the cookie that browsers would bring back over https."""
    return {**FORM, "Cookie": page.headers["Set-Cookie"].partition(";")[0]}


async def test_the_log_holds_no_secret(
    tmp_path: Path, database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async with (
        running_lab(tmp_path, database_url, lab=False, access_log=True) as lab,
        open_browser(lab.running.url) as browser,
    ):
        await give_password(lab.running.roost.store, "admin")
        await browser.log_in("admin", "canary-password")
        await browser.log_in("admin", PASSWORD)
        app = await register(lab.api)
        answer = await allow(browser, wish(app, state="canary-state"))
        code = answer.answer["code"]
        _, pair = await ask_tokens(browser, {**app.login, "code": code})
        assert await status_of(lab.api, pair) == 200
        await refused(browser, {**app.login, "code": code})
        secrets = [pair["access_token"], pair["refresh_token"], app.secret, code]
        secrets.append(browser.cookie("roost_session"))
    written = "".join(capfd.readouterr())
    assert "view_profile" in written
    assert "canary" not in written
    for secret in secrets:
        assert secret not in written
