"""The second factor at login, and devices that need none for a while."""

import time
from datetime import datetime

import pyotp
import pytest
from starlette.requests import Request

from roost.app.roost import Roost
from roost.oauth import login
from roost.oauth.forms import Params, read_form
from roost.oauth.throttle import MAX_TOGETHER
from roost.resources.two_factor.service import verify_second_factor
from roost.secrets import Box, hash_token
from roost.store import Queries
from tests.api.conftest import Account, NewAccount
from tests.support.browser import Browser, open_browser
from tests.support.client import Answer, Client, until
from tests.support.oauth import (
    AUTHORIZE,
    PASSWORD,
    give_password,
    is_in,
    register,
    sessions,
    wish,
)
from tests.support.server import RunningRoost

SESSION = "roost_session"
DEVICE = "roost_device"


async def enable_tfa(client: Client) -> tuple[pyotp.TOTP, str]:
    """The authenticator and the scratch code; the code of the last half minute was used."""
    totp = pyotp.TOTP((await client.post("/profile/tfa-enable"))["secret"])

    async def confirm() -> Answer:
        """Of the wrong half minute when that ends on the way."""
        before = totp.generate_otp(int(time.time()) // 30 - 1)
        return await client.send("POST", "/profile/tfa-enable-confirm", {"tfa_code": before})

    answer = await until(confirm, lambda answer: answer.status == 200)
    return totp, answer.body["scratch"]


async def test_second_factor(browser: Browser, client: Client, roost: Roost, user: Account) -> None:
    totp, _ = await enable_tfa(client)
    entered = await browser.log_in(user.username, PASSWORD)
    assert entered.location == "/login/second-factor"
    assert not await is_in(browser)
    app = await register(client)
    assert (await browser.get(AUTHORIZE, **wish(app))).location is not None
    page = await browser.get("/login/second-factor")
    half = browser.cookie(SESSION)
    page = await browser.submit(page, code="000000")
    assert (page.status, page.error) == (400, login.WRONG_CODE)
    code = totp.now()
    entered = await browser.submit(page, code=f"{code[:3]} {code[3:]}")
    assert entered.location == "/login"
    assert browser.cookie(SESSION) != half
    assert await is_in(browser)
    assert await sessions(roost.store, user.user_id) == 1
    assert browser.cookie(DEVICE) is None


async def test_codes_work_once(
    browser: Browser, client: Client, running: RunningRoost, user: Account
) -> None:
    totp, scratch = await enable_tfa(client)
    code = totp.now()
    for worked, failed in ((code, code), (scratch.lower(), scratch)):
        for given, title in ((worked, "Logged in"), (failed, "Log in")):
            async with open_browser(running.url) as other:
                await other.log_in(user.username, PASSWORD)
                page = await other.get("/login/second-factor")
                await other.submit(page, code=given)
                assert (await other.get("/login")).title == title


async def test_guessing_codes_is_limited_also_with_the_right_password(
    browser: Browser, client: Client, roost: Roost, user: Account
) -> None:
    """Whatever addresses they come from; a new login gives no new guesses."""
    await enable_tfa(client)
    for number in range(MAX_TOGETHER):
        if number % 4 == 0:
            assert (await browser.log_in(user.username, PASSWORD)).status == 303
        page = await browser.get("/login/second-factor")
        page = await browser.submit(page, code=f"00000{number}")
        assert page.error == login.WRONG_CODE
    await browser.log_in(user.username, PASSWORD)
    page = await browser.get("/login/second-factor")
    page = await browser.submit(page, code="000001")
    assert (page.status, page.error) == (429, login.TOO_OFTEN)


async def test_forms_of_other_sites_pass_no_second_factor(
    browser: Browser, client: Client, user: Account
) -> None:
    totp, _ = await enable_tfa(client)
    await browser.log_in(user.username, PASSWORD)
    page = await browser.post("/login/second-factor", {"code": totp.now()})
    assert (page.status, page.error) == (403, login.EXPIRED)
    assert not await is_in(browser)


async def test_without_a_password_there_is_no_second_factor(
    browser: Browser, user_browser: Browser
) -> None:
    async with open_browser(browser.url) as nobody:
        for answer in (
            await nobody.get("/login/second-factor"),
            await nobody.post("/login/second-factor", {"code": "000000"}),
        ):
            assert (answer.status, answer.location) == (303, "/login")
    assert (await user_browser.get("/login/second-factor")).location == "/login"


async def test_a_password_that_changes_before_the_second_factor_ends_the_login(
    browser: Browser,
    client: Client,
    roost: Roost,
    user: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also while the code is checked; no device is remembered then."""
    totp, _ = await enable_tfa(client)
    await browser.log_in(user.username, PASSWORD)
    page = await browser.get("/login/second-factor")

    async def change(db: Queries, box: Box, user_id: int, code: str, now: datetime) -> bool:
        await give_password(roost.store, user.username, "new")
        return await verify_second_factor(db, box, user_id, code, now)

    monkeypatch.setattr("roost.oauth.login.verify_second_factor", change)
    answer = await browser.submit(page, code=totp.now(), remember="yes")
    assert (answer.status, answer.location) == (303, "/login")
    assert browser.cookie(DEVICE) is None
    assert not await is_in(browser)
    assert await sessions(roost.store, user.user_id) == 0


async def test_a_session_that_ends_while_the_form_arrives_counts_no_more(
    browser: Browser,
    client: Client,
    roost: Roost,
    user: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    totp, _ = await enable_tfa(client)
    await browser.log_in(user.username, PASSWORD)
    page = await browser.get("/login/second-factor")

    async def slowly(request: Request) -> Params:
        await roost.store.execute("delete from web_session where user_id = $1", user.user_id)
        return await read_form(request)

    monkeypatch.setattr("roost.oauth.login.read_form", slowly)
    answer = await browser.submit(page, code=totp.now())
    assert (answer.status, answer.location) == (303, "/login")
    assert await sessions(roost.store, user.user_id) == 0


async def test_a_device_is_remembered(
    browser: Browser, client: Client, roost: Roost, user: Account, new_account: NewAccount
) -> None:
    totp, _ = await enable_tfa(client)
    await browser.log_in(user.username, PASSWORD)
    page = await browser.get("/login/second-factor")
    entered = await browser.submit(page, code=totp.now(), remember="yes")
    (cookie,) = (c for c in entered.headers.getall("Set-Cookie") if DEVICE in c)
    assert "HttpOnly; Max-Age=2592000; Path=/; SameSite=lax" in cookie
    device = browser.cookie(DEVICE)
    assert device is not None
    kept = await roost.store.fetchval(
        "select hash from trusted_device where user_id = $1", user.user_id
    )
    assert kept == hash_token(device)
    await browser.submit(await browser.get("/login"))
    assert (await browser.log_in(user.username, "wrong")).error == login.WRONG
    assert (await browser.log_in(user.username, PASSWORD)).location == "/login"
    (row,) = (await client.get("/profile/devices"))["data"]
    await client.delete(f"/profile/devices/{row['id']}")
    await browser.submit(await browser.get("/login"))
    assert (await browser.log_in(user.username, PASSWORD)).location == "/login/second-factor"


async def test_a_device_is_trusted_for_one_user_only(
    browser: Browser, client: Client, stranger: Client, roost: Roost, user: Account
) -> None:
    profile = await stranger.get("/profile")
    await give_password(roost.store, profile["username"])
    totp, _ = await enable_tfa(client)
    await enable_tfa(stranger)
    await browser.log_in(user.username, PASSWORD)
    page = await browser.get("/login/second-factor")
    await browser.submit(page, code=totp.now(), remember="yes")
    await browser.submit(await browser.get("/login"))
    entered = await browser.log_in(profile["username"], PASSWORD)
    assert entered.location == "/login/second-factor"


async def test_the_consent_page_takes_no_half_session(
    browser: Browser, client: Client, roost: Roost, user: Account
) -> None:
    app = await register(client)
    await browser.log_in(user.username, PASSWORD)
    page = await browser.get(AUTHORIZE, **wish(app))
    await enable_tfa(client)
    await browser.submit(page, 1)
    await browser.log_in(user.username, PASSWORD)
    fields = {"csrf": (await browser.get("/login/second-factor")).forms[0].fields["csrf"]}
    answer = await browser.post(page.forms[0].action, {**fields, "decision": "allow"})
    assert (answer.location or "").startswith("/login?next=")
    assert (await client.get("/profile/apps"))["results"] == 0
