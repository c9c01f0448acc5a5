"""The login page: passwords, second factors, sessions, and forms that nobody else can send."""

import hmac
import random
import re
from datetime import datetime
from urllib.parse import urlencode

import pytest

from roost.app.roost import Roost
from roost.oauth import login, passwords
from roost.oauth.passwords import PasswordChecker
from roost.resources.users.queries import set_password
from roost.secrets import Box, hash_password, hash_token, verify_password
from tests.api.conftest import Account, NewAccount
from tests.support.browser import FORM, Browser, Page, open_browser
from tests.support.client import Client, until
from tests.support.oauth import (
    AUTHORIZE,
    PASSWORD,
    is_in,
    register,
    sessions,
    wish,
)
from tests.support.server import RunningRoost

SESSION = "roost_session"
LONG_AGO = datetime(2020, 1, 1)
DEVICE = "roost_device"


@pytest.mark.spec("B auth 3")
async def test_a_user_logs_in_and_out(browser: Browser, roost: Roost, user: Account) -> None:
    page = await browser.get("/login")
    before = browser.cookie(SESSION)
    entered = await browser.submit(page, username=user.username, password=PASSWORD)
    assert (entered.status, entered.location) == (303, "/login")
    assert before != (session := browser.cookie(SESSION))
    page = await browser.get("/login")
    assert page.title == "Logged in"
    assert f"<strong>{user.username}</strong>" in page.text
    left = await browser.submit(page)
    assert (left.status, left.location) == (303, "/login")
    assert browser.cookie(SESSION) not in (before, session)
    assert not await is_in(browser)
    assert await sessions(roost.store, user.user_id) == 0


async def test_a_session_is_kept_as_a_hash(browser: Browser, roost: Roost, user: Account) -> None:
    await browser.log_in(user.username, PASSWORD)
    cookie = browser.cookie(SESSION)
    assert cookie is not None
    kept = await roost.store.fetchval(
        "select hash from web_session where user_id = $1", user.user_id
    )
    assert kept == hash_token(cookie)


async def test_headers_of_pages(browser: Browser) -> None:
    page = await browser.get("/login")
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
    for name, value in {
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }.items():
        assert page.headers[name] == value
    assert "<script" not in page.text
    (cookie,) = page.headers.getall("Set-Cookie")
    assert re.fullmatch(rf"{SESSION}=[0-9a-f]{{64}}; HttpOnly; Path=/; SameSite=lax", cookie)


async def test_forms_are_labelled_and_errors_are_tied_to_their_fields(browser: Browser) -> None:
    page = await browser.get("/login")
    assert page.error is None
    assert 'aria-invalid="true"' not in page.text
    for field in ("username", "password"):
        assert f'<label for="{field}">' in page.text
    page = await browser.submit(page, username="nobody", password="x")
    assert page.error == login.WRONG
    assert page.text.count('aria-invalid="true" aria-describedby="error"') == 2
    assert 'value="nobody"' in page.text
    assert '<html lang="en">' in page.text


def masked(page: Page, username: str) -> str:
    """Without what must differ."""
    text = re.sub('name="csrf" value="[0-9a-f]{64}"', "", page.text)
    return text.replace(username, "NAME")


async def test_unknown_users_look_like_wrong_passwords(
    browser: Browser,
    user: Account,
    new_account: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same page, and the same work before it."""
    checked = 0

    def count(hashed: str, password: str) -> bool:
        nonlocal checked
        checked += 1
        return verify_password(hashed, password)

    monkeypatch.setattr(passwords, "verify_password", count)
    without_password = await new_account()
    seen = set()
    for name in (user.username, without_password.username, "nobody-at-all"):
        page = await browser.log_in(name, "wrong")
        assert (page.status, page.error) == (400, login.WRONG)
        seen.add(masked(page, name))
    assert len(seen) == 1
    assert checked == 3
    assert not await is_in(browser)


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("", ""),
        ("x", ""),
        ("", PASSWORD),
        ("' or 1=1 --", "x"),
        ("\N{PILE OF POO}" * 300, "x"),
        ("x", "p" * 60_000),
        (random.Random(1).randbytes(25_000).hex(), "x"),
    ],
)
async def test_odd_names_and_passwords(browser: Browser, username: str, password: str) -> None:
    assert (await browser.log_in(username, password)).error == login.WRONG


async def test_a_password_typed_as_a_name_is_not_kept(browser: Browser, roost: Roost) -> None:
    assert (await browser.log_in(PASSWORD, "")).error == login.WRONG
    kept = await roost.store.fetch("select a::text as row from login_attempt a")
    assert len(kept) == 1
    assert PASSWORD not in kept[0]["row"]


async def test_what_is_typed_is_escaped(browser: Browser) -> None:
    page = await browser.log_in('"><script>alert(1)</script>', "x")
    assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text


@pytest.mark.parametrize("csrf", [None, "", "0" * 64, "é"])
async def test_forms_of_other_sites_do_nothing(
    browser: Browser, roost: Roost, user: Account, csrf: str | None
) -> None:
    """A login that somebody else begins would show the victim the attacker's account."""
    await browser.get("/login")
    fields = {"username": user.username, "password": PASSWORD}
    page = await browser.post("/login", fields if csrf is None else {**fields, "csrf": csrf})
    assert (page.status, page.error) == (403, login.EXPIRED)
    assert await sessions(roost.store, user.user_id) == 0


@pytest.mark.parametrize(
    ("name", "value", "passes"),
    [
        ("Origin", "https://evil.example", False),
        ("Origin", "http://127.0.0.1:1", False),
        ("Origin", "null", True),
        ("Sec-Fetch-Site", "cross-site", False),
        ("Sec-Fetch-Site", "same-site", False),
        ("Sec-Fetch-Site", "same-origin", True),
    ],
)
async def test_what_browsers_say_of_a_forms_origin(
    browser: Browser, user: Account, name: str, value: str, passes: bool
) -> None:
    """Other ports of this host are other sites too."""
    form = (await browser.get("/login")).forms[0]
    data = urlencode({**form.fields, "username": user.username, "password": PASSWORD}).encode()
    page = await browser.send("POST", "/login", data, {**FORM, name: value})
    assert page.status == (303 if passes else 403)
    assert await is_in(browser) == passes


async def test_the_own_origin_passes(browser: Browser, user: Account) -> None:
    form = (await browser.get("/login")).forms[0]
    data = urlencode({**form.fields, "username": user.username, "password": PASSWORD}).encode()
    headers = {**FORM, "Origin": browser.url}
    assert (await browser.send("POST", "/login", data, headers)).status == 303


async def test_who_knows_the_cookie_cannot_make_a_form(
    browser: Browser, roost: Roost, user: Account
) -> None:
    """As somebody who set it would; the token in forms needs the key of the server."""
    browser.keep(SESSION, "known")
    guesses = [
        hmac.digest(b"known", b"csrf", "sha256").hex(),
        Box(bytes(32)).mark(b"csrf", b"known").hex(),
    ]
    for guess in guesses:
        fields = {"csrf": guess, "username": user.username, "password": PASSWORD}
        assert (await browser.post("/login", fields)).status == 403
    right = roost.services.get(Box).mark(b"csrf", b"known").hex()
    fields = {"csrf": right, "username": user.username, "password": PASSWORD}
    assert (await browser.post("/login", fields)).status == 303


async def test_names_are_known_in_any_capitalisation(browser: Browser, user: Account) -> None:
    assert (await browser.log_in(user.username.upper(), PASSWORD)).status == 303
    assert f"<strong>{user.username}</strong>" in (await browser.get("/login")).text


async def test_a_form_works_only_in_the_browser_that_got_it(
    browser: Browser, running: RunningRoost, roost: Roost, user: Account
) -> None:
    async with open_browser(running.url) as attacker:
        form = (await attacker.get("/login")).forms[0]
    fields = {**form.fields, "username": user.username, "password": PASSWORD}
    await browser.get("/login")
    assert (await browser.post("/login", fields)).status == 403
    assert await sessions(roost.store, user.user_id) == 0


async def test_nobody_else_logs_a_user_out(user_browser: Browser) -> None:
    assert (await user_browser.post("/logout", {})).status == 303
    assert (await user_browser.get("/logout")).status == 405
    assert await is_in(user_browser)


async def test_a_new_password_ends_sessions(
    user_browser: Browser, roost: Roost, account: Account
) -> None:
    """At once, even if it is the old one again; those that the new one begins are good at once."""
    assert await is_in(user_browser)
    now = roost.clock.seconds()
    assert await set_password(roost.store, account.username, hash_password(PASSWORD), now)
    assert not await is_in(user_browser)
    await user_browser.log_in(account.username, PASSWORD)
    assert await is_in(user_browser)


async def test_a_password_that_changes_while_it_is_checked_begins_no_session(
    browser: Browser, roost: Roost, user: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = PasswordChecker.matches

    async def change(self: PasswordChecker, hashed: str | None, password: str) -> bool:
        right = await matches(self, hashed, password)
        await set_password(roost.store, user.username, hash_password("new"), LONG_AGO)
        return right

    monkeypatch.setattr(PasswordChecker, "matches", change)
    entered = await browser.log_in(user.username, PASSWORD)
    assert (entered.status, entered.location) == (303, "/login")
    assert not await is_in(browser)
    assert await sessions(roost.store, user.user_id) == 0


async def test_a_session_never_outlives_its_password(
    user_browser: Browser, roost: Roost, account: Account
) -> None:
    """Whatever the clock said when the password changed."""
    changed = hash_password("new")
    assert await set_password(roost.store, account.username, changed, LONG_AGO)
    assert not await is_in(user_browser)


@pytest.mark.parametrize(
    "after",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/oauth/authorize",
        "/oauth/authorize/../../x?a",
        "/oauth/authorize@evil.example?a",
        "/oauth/authorize?a\r\nSet-Cookie: a=b",
        "/oauth/authorize?ä",
        "javascript:alert(1)",
        "/v4/profile",
    ],
)
async def test_a_login_leads_nowhere_else(browser: Browser, user: Account, after: str) -> None:
    page = await browser.get("/login", next=after)
    entered = await browser.submit(page, username=user.username, password=PASSWORD)
    assert (entered.status, entered.location) == (303, "/login")
    assert (await browser.get("/login", next=after)).title == "Logged in"


async def test_a_login_leads_back_to_the_consent_page(
    browser: Browser, client: Client, user: Account
) -> None:
    app = await register(client)
    asked = await browser.get(AUTHORIZE, **wish(app, state="a b&c=d"))
    assert asked.location is not None
    page = await browser.get(asked.location)
    page = await browser.submit(page, username=user.username, password="wrong")
    entered = await browser.submit(page, username=user.username, password=PASSWORD)
    assert entered.location is not None
    consent = await browser.get(entered.location)
    assert consent.title == "Allow app?"
    assert (await browser.get(asked.location)).location == entered.location
    left = await browser.submit(consent, 1)
    assert left.location == asked.location


async def test_logins_are_recorded(
    browser: Browser, client: Client, roost: Roost, user: Account
) -> None:
    await browser.log_in(user.username, "wrong")
    path = f"/account/users/{user.username}"
    row = await until(lambda: client.get(path), lambda row: row["last_login"] is not None)
    assert row["last_login"]["status"] == "failed"
    await roost.usage.flush()  # The first use of the client's token is a login too.
    before = (await client.get("/account/logins"))["data"]
    assert {row["status"] for row in before} == {"successful"}
    shown = (await client.get("/profile/logins"))["data"]
    assert [row["status"] for row in shown if row not in before] == ["failed"]
    await browser.log_in(user.username, PASSWORD)
    (row,) = (await client.get("/account/logins"))["data"][len(before) :]
    assert (row["username"], row["ip"], row["status"]) == (
        user.username,
        "127.0.0.1",
        "successful",
    )
    assert (await client.get(path))["last_login"]["status"] == "successful"


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (b"{}", {"Content-Type": "application/json"}),
        (b"username=a%00b", FORM),
        (b"a=" + b"x" * 65536, FORM),
        (b"&".join(b"a=1" for _ in range(51)), FORM),
        (b"--x", {"Content-Type": "multipart/form-data; boundary=x"}),
    ],
)
async def test_other_forms(browser: Browser, data: bytes, headers: dict[str, str]) -> None:
    page = await browser.send("POST", "/login", data, headers)
    assert (page.status, page.title) == (400, "Not understood")


async def test_other_queries(browser: Browser) -> None:
    assert (await browser.send("GET", "/login?next=%00")).status == 400
    assert (await browser.send("GET", "/login?%ff=%fe")).status == 200
