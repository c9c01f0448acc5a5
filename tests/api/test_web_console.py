"""The web console: its pages, forms, and what they never show."""

from collections.abc import AsyncIterator

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.console.operations import Operations, url_of
from roost.web.registry import Registry
from tests.api.conftest import Account
from tests.support.browser import Browser, open_browser
from tests.support.oauth import PASSWORD, give_password
from tests.support.server import RunningRoost

OPERATIONS = Operations(Registry(GROUPS.endpoints))


@pytest.fixture
async def console(running: RunningRoost, roost: Roost, account: Account) -> AsyncIterator[Browser]:
    """The browser of the account's user."""
    await give_password(roost.store, account.username)
    async with open_browser(running.url) as browser:
        await browser.log_in(account.username, PASSWORD)
        yield browser


async def test_a_login_leads_to_the_page_that_was_wanted(
    running: RunningRoost, roost: Roost, account: Account
) -> None:
    await give_password(roost.store, account.username)
    async with open_browser(running.url) as browser:
        asked = await browser.get("/console/volumes", page="2")
        assert asked.status == 303
        assert asked.location == "/login?next=%2Fconsole%2Fvolumes%3Fpage%3D2"
        form = await browser.get(asked.location)
        entered = await browser.submit(form, username=account.username, password=PASSWORD)
        assert entered.location == "/console/volumes?page=2"


async def test_every_page_shows(console: Browser) -> None:
    """Those without parameters, and the forms on them; a new account has little to show."""
    wrong = []
    for endpoint in OPERATIONS.registry:
        if "{" in endpoint.path:
            continue
        page = await console.get(url_of(endpoint, {}))
        allowed = (403,) if endpoint.name == "list_child_accounts" else (200, 400)
        if page.status not in allowed or "text/html" not in page.headers["Content-Type"]:
            wrong.append((endpoint.name, page.status, page.text[:300]))
    assert not wrong
