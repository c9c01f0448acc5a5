"""Limits on failed logins."""

import pytest

from roost.app.roost import Roost
from roost.oauth import login
from roost.oauth.throttle import MAX_PER_ADDRESS, MAX_PER_USER
from roost.secrets import hash_token
from tests.api.conftest import Account
from tests.support.browser import Browser
from tests.support.oauth import (
    PASSWORD,
    fill,
    is_in,
)

SESSION = "roost_session"
DEVICE = "roost_device"


@pytest.mark.parametrize("known", [True, False])
async def test_many_failures_lock_a_user(
    browser: Browser, roost: Roost, user: Account, known: bool
) -> None:
    name = user.username if known else "nobody-at-all"
    await fill(roost, MAX_PER_USER - 1, name, "192.0.2.1")
    assert (await browser.log_in(name, "wrong")).error == login.WRONG
    for password in ("wrong", PASSWORD):
        page = await browser.log_in(name, password)
        assert (page.status, page.error) == (429, login.TOO_OFTEN)
    assert not await is_in(browser)


async def test_many_failures_lock_an_address(browser: Browser, roost: Roost, user: Account) -> None:
    for n in range(MAX_PER_ADDRESS):
        await fill(roost, 1, f"name{n}", "127.0.0.1")
    assert (await browser.log_in(user.username, PASSWORD)).error == login.TOO_OFTEN
    await roost.store.execute("delete from login_attempt where username = $1", hash_token("name0"))
    assert (await browser.log_in(user.username, PASSWORD)).status == 303


async def test_refused_attempts_do_not_lock_for_longer(
    browser: Browser, roost: Roost, user: Account
) -> None:
    await fill(roost, MAX_PER_USER, user.username, "192.0.2.1")
    for _ in range(3):
        assert (await browser.log_in(user.username, PASSWORD)).status == 429
    count = await roost.store.fetchval(
        "select count(*) from login_attempt where username = $1",
        hash_token(user.username),
    )
    assert count == MAX_PER_USER


async def test_a_login_forgives_the_failures_before_it(
    browser: Browser, roost: Roost, user: Account
) -> None:
    await browser.log_in(user.username, "wrong")
    await fill(roost, 1, user.username, "192.0.2.1")
    await browser.log_in(user.username, PASSWORD)
    left = await roost.store.fetch(
        "select host(ip) as ip from login_attempt where username = $1",
        hash_token(user.username),
    )
    assert [row["ip"] for row in left] == ["192.0.2.1"]
