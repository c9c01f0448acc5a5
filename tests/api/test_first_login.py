"""The link of the first start: whoever has it chooses the first user's password, once."""

import asyncio
import stat
from pathlib import Path

import pytest

from roost.app.roost import Roost
from roost.oauth.first_link import LINK_FILE, PATH, FirstLink, link_at, new_link
from roost.oauth.session_queries import set_first_password
from tests.api.conftest import Account
from tests.support.browser import Browser, open_browser
from tests.support.oauth import is_in
from tests.support.server import RunningRoost

PASSWORD = "tawny frogmouth on a wire"


async def test_the_link_lets_in_once(running: RunningRoost, browser: Browser) -> None:
    path = running.roost.settings.state / LINK_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link = path.read_text().strip()
    page = await browser.get(link)
    assert (page.status, page.title) == (200, "Welcome")
    weak = await browser.submit(page, password="password")
    assert weak.status == 400
    assert weak.error is not None
    forged = await browser.submit(page, password=PASSWORD, csrf="0" * 64)
    assert (forged.status, path.exists()) == (403, True)
    async with open_browser(running.url) as other:
        pages = await asyncio.gather(browser.get(link), other.get(link))
        entered = await asyncio.gather(
            browser.submit(pages[0], password=PASSWORD), other.submit(pages[1], password=PASSWORD)
        )
        assert sorted(each.status for each in entered) == [303, 404]
        assert [await is_in(browser), await is_in(other)].count(True) == 1
    assert not path.exists()
    assert (await browser.get(link)).status == 404
    assert (await browser.post(link, {"password": PASSWORD})).status == 404
    async with open_browser(running.url) as later:
        assert (await later.log_in("admin", PASSWORD)).status == 303


@pytest.mark.parametrize("key", ["", "0" * 64])
async def test_another_key_opens_nothing(browser: Browser, key: str) -> None:
    for page in (await browser.get(PATH, key=key), await browser.post(f"{PATH}?key={key}", {})):
        assert (page.status, page.forms) == (404, [])


async def test_it_replaces_no_password(roost: Roost, user: Account) -> None:
    async with roost.store.transaction() as db:
        assert await set_first_password(db, user.username, "x", roost.clock.now()) is None


def test_the_file_says_where_the_server_is_now(tmp_path: Path) -> None:
    assert link_at(tmp_path, "http://one") is None
    (tmp_path / LINK_FILE).write_text(new_link())
    key = FirstLink.of(tmp_path).key
    for url in ("http://127.0.0.1:8080", "https://cloud.example.com"):
        link = f"{url}{PATH}?key={key}"
        assert link_at(tmp_path, url) == link
        assert (tmp_path / LINK_FILE).read_text() == link + "\n"
    FirstLink.of(tmp_path).end()
    assert FirstLink.of(tmp_path).key is None
