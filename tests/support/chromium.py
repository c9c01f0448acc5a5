"""Debian's Chromium, driven as a person's: pages that are logged in, and what axe finds on them."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.support import browser as plain

THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
WIDE, NARROW = 1280, 360
"""Pixels."""
PATIENCE = 120_000
"""Milliseconds: machines that run tests may be busy."""
_AXE = Path(__file__).parents[2] / ".boot/axe.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_SERIOUS = ("serious", "critical")

expect.set_options(timeout=PATIENCE)


@asynccontextmanager
async def open_chromium() -> AsyncIterator[Browser]:
    """Skips the test where there is none."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    async with async_playwright() as playwright:
        # Root is refused its sandbox; pages are ours.
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = await playwright.chromium.launch(executable_path=program, args=options)
        try:
            yield chromium
        finally:
            await chromium.close()


@asynccontextmanager
async def open_page(
    chromium: Browser,
    entered: plain.Browser,
    width: int = WIDE,
    scripts: bool = True,
) -> AsyncIterator[Page]:
    """A page of the user whom another browser has logged in. What it logs as an error fails the
    test."""
    context = await chromium.new_context(
        base_url=entered.url,
        viewport={"width": width, "height": 800},
        java_script_enabled=scripts,
        timezone_id="Europe/Rome",
        locale="en-GB",
    )
    context.set_default_timeout(PATIENCE)
    cookie = entered.cookie("roost_session")
    assert cookie is not None
    await context.add_cookies([{"name": "roost_session", "value": cookie, "url": entered.url}])
    page, errors = await context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda said: (
            errors.append(said.text)
            if said.type == "error" and "status of 4" not in said.text
            else None
        ),
    )
    try:
        yield page
    finally:
        await context.close()
    assert errors == []


@cache
def _axe() -> str:
    return _AXE.read_text()


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    impact: str
    target: str
    why: str


async def findings(page: Page, *rules: str) -> list[Finding]:
    """What axe finds serious or critical on the page as it is, by some of its rules or by all."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_axe())
    wanted = {"runOnly": rules or _RULES, "resultTypes": ["violations"], "preload": False}
    found = await page.evaluate("async wanted => (await axe.run(wanted)).violations", wanted)
    return [
        Finding(each["id"], each["impact"], node["target"][0], node["failureSummary"])
        for each in found
        if each["impact"] in _SERIOUS
        for node in each["nodes"]
    ]


async def is_too_wide(page: Page) -> bool:
    return bool(
        await page.evaluate("document.documentElement.scrollWidth > document.body.clientWidth")
    )


async def tab_to(page: Page, name: str) -> None:
    """To the link, button or field of that name, as somebody does who uses no mouse."""
    asked = """name => {
        const at = document.activeElement, label = at.labels?.[0] ?? at;
        return label.textContent.trim().startsWith(name);
    }"""
    for _ in range(80):
        await page.keyboard.press("Tab")
        if await page.evaluate(asked, name):
            outlined = "getComputedStyle(document.activeElement).outlineStyle"
            assert await page.evaluate(outlined) != "none", name
            return
    raise AssertionError(f"no way to {name} by the keyboard")
