"""The console in Debian's Chromium: what axe finds, narrow screens, keyboards, and no scripts."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import playwright.async_api as drive
import pyotp
import pytest
from playwright.async_api import Page, expect

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.console.operations import PREFIX
from roost.web.registry import Registry
from tests.api.conftest import Account
from tests.api.samples.paths import (
    become_welcome,
    fill,
    make_sample,
    sample_path,
    sample_query,
)
from tests.api.samples.sample import Value
from tests.support.browser import Browser
from tests.support.chromium import (
    NARROW,
    PATIENCE,
    THEMES,
    findings,
    is_too_wide,
    open_chromium,
    open_page,
    tab_to,
)
from tests.support.client import Client
from tests.support.oauth import PASSWORD

pytestmark = pytest.mark.browser

REGISTRY = Registry(GROUPS.endpoints)
BY_NAME = {each.name: each for each in REGISTRY}
TYPICAL = (
    "list_instances",
    "view_instance",
    "view_volume",
    "list_volumes",
    "view_mysql_database",
    "list_records",
    "list_buckets",
    "view_ticket",
    "view_estimate",
    "view_account_settings",
)
"""Pages of each kind, with something on them."""
COLOURS = ("color-contrast",)
"""The rule that has another answer in another theme."""
FORMS = ("create_instance", "create_firewall", "delete_volume", "update_account")


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[drive.Browser]:
    async with open_chromium() as chromium:
        yield chromium


async def url_of(name: str, client: Client, roost: Roost, account: Account) -> str:
    endpoint = BY_NAME[name]
    path = PREFIX + await sample_path(endpoint, client, roost, account)
    return path if endpoint.method == "GET" else f"{path}?do={name}"


@pytest.mark.story
async def test_what_axe_and_narrow_screens_find(
    chromium: drive.Browser, client: Client, roost: Roost, account: Account, user_browser: Browser
) -> None:
    urls = ["/", f"{PREFIX}/volumes/1", f"{PREFIX}/domains"]
    urls += [await url_of(name, client, roost, account) for name in (*TYPICAL, *FORMS)]
    async with open_page(chromium, user_browser) as page:
        for url in urls:
            await page.goto(url)
            assert await findings(page) == [], url
            await page.set_viewport_size({"width": NARROW, "height": 800})
            assert not await is_too_wide(page), url
            await page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.timeout(900)
async def test_every_page_and_form(
    chromium: drive.Browser, client: Client, roost: Roost, account: Account, user_browser: Browser
) -> None:
    wrong: list[object] = []
    made: dict[str, list[Value]] = {}
    # An invoice of the past is due, and then there is nothing new.
    known = sorted(
        (each for each in REGISTRY if not each.deprecated),
        key=lambda each: (each.path.startswith("/account"), each.method != "GET"),
    )
    async with open_page(chromium, user_browser, NARROW) as page:
        for endpoint in known:
            await become_welcome(endpoint, client, roost, account)
            thing = endpoint.path[: endpoint.path.rfind("}") + 1]
            if thing not in made:
                made[thing] = await make_sample(endpoint, client, roost, account)
            path = fill(endpoint, made[thing])
            query = sample_query(endpoint) if endpoint.method == "GET" else f"do={endpoint.name}"
            if endpoint.name in ("view_oauth_client_thumbnail",) or endpoint.name.endswith(
                ("_pdf", "_csv")
            ):
                continue
            await page.goto(f"{PREFIX}{path}?{query}")
            for theme in THEMES:
                rules = () if theme == THEMES[0] else COLOURS
                await page.emulate_media(color_scheme=theme)
                wrong += [(endpoint.name, theme, each) for each in await findings(page, *rules)]
            if await is_too_wide(page):
                wrong.append((endpoint.name, "too wide"))
    assert wrong == []


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)


async def choose(page: Page, value: str) -> None:
    """Of the list that has the focus, however long the machine takes between two keys."""
    for _ in range(80):
        if await page.evaluate("document.activeElement.value") == value:
            return
        await page.keyboard.press("ArrowDown")
    raise AssertionError(f"no way to {value} by the keyboard")


@pytest.mark.story
async def test_a_keyboard_is_enough(
    chromium: drive.Browser, client: Client, user: Account, browser: Browser
) -> None:
    """From the login to a volume of one's own."""
    context = await chromium.new_context(base_url=browser.url)
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    await page.goto(f"{PREFIX}/volumes")
    await expect(page.locator("[autofocus]")).to_be_focused()
    await page.keyboard.type(user.username)
    await press(page, "Tab")
    await page.keyboard.type(PASSWORD)
    await press(page, "Enter")
    await page.wait_for_url(f"**{PREFIX}/volumes")
    await press(page, "Tab", "Enter")
    await expect(page.locator("main")).to_be_focused()
    await tab_to(page, "Create a volume")
    await press(page, "Enter")
    await page.wait_for_url("**?do=create_volume")
    await press(page, "Tab", "Enter")
    await tab_to(page, "Label")
    await page.keyboard.type("by-hand")
    await press(page, "Enter")
    problem = page.get_by_role("alert")
    await expect(problem).to_contain_text("region")
    await tab_to(page, "Region")
    await choose(page, "us-lake")
    await tab_to(page, "Size")
    await page.keyboard.press("Control+a")
    await page.keyboard.type("20")
    await press(page, "Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("by-hand")
    volume = (await client.get("/volumes"))["data"][0]
    assert (volume["label"], volume["size"], volume["region"]) == ("by-hand", 20, "us-lake")
    await context.close()


@pytest.mark.story
async def test_nothing_needs_scripts(
    chromium: drive.Browser, client: Client, user_browser: Browser
) -> None:
    async with open_page(chromium, user_browser, width=NARROW, scripts=False) as page:
        await page.goto("/")
        await page.get_by_role("button", name="Menu").click()
        await page.get_by_role("link", name="Domains").click()
        await page.get_by_role("link", name="Create a domain").first.click()
        await page.get_by_label("Domain", exact=False).first.fill("no-scripts.example")
        await page.get_by_label("Soa email").fill("ada@example.net")
        kind = page.get_by_label("Type", exact=False).first
        await kind.select_option("master")
        await page.locator(".send button").first.click()
        await expect(page.locator("main")).to_contain_text("no-scripts.example")
    assert [each["domain"] for each in (await client.get("/domains"))["data"]] == [
        "no-scripts.example"
    ]


async def test_a_login_with_two_factors(
    chromium: drive.Browser, user: Account, user_browser: Browser
) -> None:
    async with open_page(chromium, user_browser) as page:
        await page.goto(f"{PREFIX}/profile/tfa-enable?do=enable_tfa")
        await page.locator(".send button").first.click()
        await expect(page.get_by_alt_text("QR code")).to_be_visible()
        secret = pyotp.TOTP((await page.locator("dt:has-text('Secret') + dd").inner_text()).strip())
        await page.get_by_role("link", name="confirm with a code").click()
        await page.locator("#f-tfa_code").fill(secret.now())
        await page.locator(".send button").first.click()
        await expect(page.locator("main")).to_contain_text("Scratch")
        await page.get_by_role("button", name="Log out").click()
        await expect(page.get_by_label("User name")).to_be_visible()
        await page.goto("/")
        await page.get_by_label("User name").fill(user.username)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        await page.get_by_label("Code").fill(secret.at(datetime.now() + timedelta(seconds=30)))
        await page.get_by_role("button").first.click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
