"""Limits on failed logins, which nobody can turn against somebody else."""

import pytest

from roost.app.roost import Roost
from roost.oauth import login, throttle
from roost.oauth.cookies import DEVICE
from roost.oauth.throttle import MAX_PER_ADDRESS, MAX_TOGETHER, SLOW_PER_ADDRESS, SLOW_PER_USER
from roost.resources.devices.service import remember_device
from roost.secrets import hash_token
from tests.api.conftest import Account
from tests.support.browser import Browser
from tests.support.oauth import PASSWORD, fill, is_in

HERE = "127.0.0.1"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One for each attempt that was made to wait."""
    made: list[None] = []

    async def pause() -> None:
        made.append(None)

    monkeypatch.setattr(throttle, "pause", pause)
    return made


@pytest.mark.parametrize("known", [True, False])
async def test_many_failures_from_one_address_lock_a_user_there(
    browser: Browser, roost: Roost, user: Account, known: bool
) -> None:
    """However the name is capitalised."""
    name = user.username if known else "nobody-at-all"
    await fill(roost, MAX_TOGETHER - 1, name, HERE)
    assert (await browser.log_in(name.upper(), "wrong")).error == login.WRONG
    for password in ("wrong", PASSWORD):
        page = await browser.log_in(name, password)
        assert (page.status, page.error) == (429, login.TOO_OFTEN)
    assert not await is_in(browser)


async def test_failures_elsewhere_only_slow_a_user_down(
    browser: Browser, roost: Roost, user: Account, pauses: list[None]
) -> None:
    """A stranger who tries names of others keeps nobody out."""
    await fill(roost, SLOW_PER_USER - 1, user.username, "192.0.2.1")
    assert (await browser.log_in(user.username, "wrong")).error == login.WRONG
    assert not pauses
    await fill(roost, 1000, user.username, "192.0.2.2")
    assert (await browser.log_in(user.username, PASSWORD)).status == 303
    assert len(pauses) == 1


async def test_many_failures_slow_an_address_down_before_they_lock_it(
    browser: Browser, roost: Roost, user: Account, pauses: list[None]
) -> None:
    for n in range(SLOW_PER_ADDRESS - 1):
        await fill(roost, 1, f"name{n}", HERE)
    assert (await browser.log_in(user.username, "wrong")).error == login.WRONG
    assert not pauses
    assert (await browser.log_in(user.username, PASSWORD)).status == 303
    assert len(pauses) == 1
    await browser.submit(await browser.get("/login"))
    await fill(roost, MAX_PER_ADDRESS - SLOW_PER_ADDRESS + 1, "many", HERE)
    assert (await browser.log_in(user.username, PASSWORD)).error == login.TOO_OFTEN
    await roost.store.execute("delete from login_attempt where username = $1", hash_token("many"))
    assert (await browser.log_in(user.username, PASSWORD)).status == 303


async def test_a_trusted_device_is_not_locked_out(
    browser: Browser, roost: Roost, user: Account, pauses: list[None]
) -> None:
    """It has a limit of its own."""
    now = roost.clock.now()
    secret = await remember_device(roost.store, user.user_id, "browser", HERE, now)
    browser.keep(DEVICE, secret)
    await fill(roost, MAX_TOGETHER, user.username, HERE)
    await fill(roost, MAX_PER_ADDRESS, "others", HERE)
    assert (await browser.log_in(user.username, PASSWORD)).status == 303
    await browser.submit(await browser.get("/login"))
    for _ in range(MAX_TOGETHER):
        assert (await browser.log_in(user.username, "wrong")).error == login.WRONG
    assert (await browser.log_in(user.username, PASSWORD)).error == login.TOO_OFTEN
    assert not pauses


async def test_refused_attempts_do_not_lock_for_longer(
    browser: Browser, roost: Roost, user: Account
) -> None:
    await fill(roost, MAX_TOGETHER, user.username, HERE)
    for _ in range(3):
        assert (await browser.log_in(user.username, PASSWORD)).status == 429
    count = await roost.store.fetchval(
        "select count(*) from login_attempt where username = $1", hash_token(user.username)
    )
    assert count == MAX_TOGETHER


async def test_a_login_forgives_the_failures_before_it(
    browser: Browser, roost: Roost, user: Account
) -> None:
    await browser.log_in(user.username, "wrong")
    await fill(roost, 1, user.username, "192.0.2.1")
    await browser.log_in(user.username, PASSWORD)
    left = await roost.store.fetch(
        "select host(ip) as ip from login_attempt where username = $1", hash_token(user.username)
    )
    assert [row["ip"] for row in left] == ["192.0.2.1"]
