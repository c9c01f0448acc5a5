"""The console in Debian's Chromium: an instance from its form to its console, without a reload."""

import asyncio
from collections.abc import AsyncIterator

import playwright.async_api as drive
import pytest
from playwright.async_api import expect

from tests.support.browser import Browser
from tests.support.chromium import open_chromium, open_page
from tests.support.client import Client

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[drive.Browser]:
    async with open_chromium() as chromium:
        yield chromium


@pytest.mark.story
async def test_an_instance_from_its_form_to_its_console(
    chromium: drive.Browser, client: Client, user_browser: Browser
) -> None:
    async with open_page(chromium, user_browser) as page:
        await page.goto("/")
        await page.get_by_role("link", name="Create a compute instance").first.click()
        await page.wait_for_url("**?do=create_instance")  # With what shows the price.
        await page.get_by_label("Region").select_option("us-lake")
        await page.get_by_label("Type").select_option("g1-nano-1")
        await page.get_by_label("Image").select_option("roost/debian12")
        await page.locator("#f-label").fill("web")
        await page.get_by_label("Root password").fill("correct-Horse7battery")
        await expect(page.locator("#preview")).to_contain_text("$5.00")
        await expect(page.locator("#preview")).to_contain_text('"label": "web"')
        await expect(page.locator("#preview")).not_to_contain_text("correct-Horse")
        await page.get_by_role("button", name="Create a compute instance").click()
        await expect(page.locator(".summary")).to_contain_text("Running")
        await page.get_by_role("link", name="Open its console").click()
        await page.get_by_role("button", name="Open the console").click()
        await expect(page.get_by_role("status").first).to_contain_text("Open.")
        await page.keyboard.type("root\n")
        await expect(page.locator(".xterm-rows")).to_contain_text("login: root")
        await page.goto("/console/compute/instances")
        (instance,) = (await client.get("/compute/instances"))["data"]
        await client.post(f"/compute/instances/{instance['id']}/shutdown")
        await expect(page.locator("tbody")).to_contain_text("Offline")


async def test_what_happens_before_the_stream_is_open_appears(
    chromium: drive.Browser, client: Client, user_browser: Browser
) -> None:
    done = asyncio.Event()

    async def hold(route: drive.Route) -> None:
        await done.wait()
        await route.continue_()

    async with open_page(chromium, user_browser) as page:
        await client.post("/tags", {"label": "mine"})
        await page.route("**/console/live*", hold)
        await page.goto("/console/tags")
        await client.post("/tags", {"label": "meanwhile"})
        done.set()
        await expect(page.locator("tbody")).to_contain_text("meanwhile")


async def test_what_others_do_appears(
    chromium: drive.Browser, client: Client, user_browser: Browser
) -> None:
    async with open_page(chromium, user_browser) as page:
        await client.post("/tags", {"label": "mine"})
        await page.goto("/console/tags")
        await expect(page.locator("tbody")).to_contain_text("mine")
        await client.post("/tags", {"label": "another"})
        await expect(page.locator("tbody")).to_contain_text("another")
