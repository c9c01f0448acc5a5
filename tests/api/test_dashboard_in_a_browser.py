"""The operator's pages in Debian's Chromium: what axe finds, narrow screens, keyboards."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from roost.app.served import serving
from roost.dashboard.desk import Desk
from roost.dashboard.made import LAB, PAGES
from roost.settings import MAIN_HOST
from tests.support.chromium import (
    NARROW,
    PATIENCE,
    THEMES,
    findings,
    is_too_wide,
    open_chromium,
    tab_to,
)
from tests.support.lab import running_lab
from tests.support.operator import served

pytestmark = pytest.mark.browser


@pytest.mark.timeout(600)
async def test_every_page_of_the_operator(tmp_path: Path, database_url: str) -> None:
    """Entered and gone through by keyboard, then looked at in both themes at 360 pixels."""
    async with running_lab(tmp_path, database_url) as lab, open_chromium() as chromium:
        roost = lab.running.roost
        await lab.settled(await lab.create(label="seen"))
        account = await roost.store.fetchval("select min(id) from account")
        job = await roost.store.fetchval("select min(id) from job")
        names = {"/accounts/{id}": account, "/jobs/{id}": job}
        with serving(roost.settings) as opened:
            opened(lab.running.url)
            async with served(Desk(roost.settings, roost.store)) as (url, entry):
                page = await chromium.new_page(viewport={"width": NARROW, "height": 800})
                page.set_default_timeout(PATIENCE)
                await page.goto(f"{url}/enter?key={entry.key}")
                await tab_to(page, "Enter")
                await page.keyboard.press("Enter")
                await page.wait_for_url(f"{url}/")
                await tab_to(page, "Menu")
                await page.keyboard.press("Enter")
                await tab_to(page, "Accounts")
                await page.keyboard.press("Enter")
                await expect(page.get_by_role("heading", level=1)).to_have_text("Accounts")
                for each in (*PAGES, *LAB):
                    path = each.path.replace("{id}", str(names.get(each.path, "")))
                    path = path.replace("{name}", MAIN_HOST).replace("{region}", "local")
                    answer = await page.goto(url + path)
                    assert answer is not None
                    assert answer.ok, path
                    assert not await is_too_wide(page), path
                    for theme in THEMES:
                        await page.emulate_media(color_scheme=theme)
                        assert await findings(page) == [], (path, theme)
