"""What people do in the web console, with data planes that are real."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import dns.asyncquery
import dns.message
import pytest
from playwright.async_api import Page, expect

from roost.engines.qemu.images.mini import MINI
from tests.cli.process import Server
from tests.e2e.region import opened_region
from tests.support.chromium import PATIENCE, open_chromium
from tests.support.instances import PASSWORD

pytestmark = pytest.mark.browser

_SECONDS = 240_000
_ADDRESS = "127.0.0.1"


@asynccontextmanager
async def first_login(state: Path, url: str) -> AsyncIterator[Page]:
    """A page of the console of admin, who has chosen a password by the link."""
    async with open_chromium() as chromium:
        page = await chromium.new_page(base_url=url)
        page.set_default_timeout(PATIENCE)
        link = (state / "admin.login").read_text().strip()
        await page.goto(url + re.sub("^https?://[^/]*", "", link))
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button").click()
        await page.wait_for_url(lambda now: "login/first" not in now)
        yield page


async def send(page: Page) -> None:
    await page.locator(".send button").first.click()


async def copied(page: Page, name: str) -> str:
    return await page.locator(f"#{name}").inner_text()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    if shutil.which("pdns_server") is None:
        pytest.skip("PowerDNS is not installed")
    server = Server.start(tmp_path / "state", ROOST_DNS_ENGINE="powerdns")
    yield server
    server.end()


async def test_a_record_is_answered(server: Server) -> None:
    found = re.search(r"dns +real .* at 127\.0\.0\.1:(\d+)", server.greeting)
    assert found is not None, server.greeting
    async with first_login(server.state, server.url) as page:
        await page.goto("/console/domains?do=create_domain")
        await page.get_by_label("Domain", exact=False).first.fill("heron.example")
        await page.get_by_label("Type", exact=False).first.select_option("master")
        await page.get_by_label("SOA email", exact=False).fill("ada@heron.example")
        await send(page)
        await page.get_by_role("link", name="Add A", exact=True).click()
        await page.get_by_label("Name").fill("www")
        await page.get_by_label("Target").fill("192.0.2.7")
        await send(page)
        await expect(page.locator("main")).to_contain_text("192.0.2.7")
    question = dns.message.make_query("www.heron.example", "A")
    async with asyncio.timeout(60):
        while True:
            answer = await dns.asyncquery.udp(question, _ADDRESS, port=int(found[1]), timeout=10)
            if answer.answer:
                break
            await asyncio.sleep(0.1)
    assert answer.answer[0][0].to_text() == "192.0.2.7"


async def test_a_link_to_an_object_opens(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("from a heron")
    async with first_login(server.state, server.url) as page:
        await page.goto("/console/object-storage/buckets?do=create_bucket")
        await page.get_by_label("Label", exact=False).first.fill("heron-letters")
        await page.get_by_label("Cluster", exact=False).first.select_option("us-lake-1")
        await send(page)
        await expect(page.get_by_role("heading", level=1)).to_contain_text("heron-letters")
        bucket = "/console/object-storage/buckets/us-lake-1/heron-letters"
        await page.goto(f"{bucket}/object-url?do=create_object_url")
        await page.get_by_label("Method", exact=False).select_option("PUT")
        await page.get_by_label("Name", exact=False).first.fill("letter.txt")
        await page.get_by_label("Content type", exact=False).fill("text/plain")
        await send(page)
        command = (await copied(page, "by-command")).replace("FILE", str(file))
        await run(command)
        await page.goto(bucket)
        await page.get_by_role("link", name="Link to letter.txt").click()
        await send(page)
        await page.get_by_role("link", name="Open the object").click()
        await expect(page.locator("body")).to_have_text("from a heron")


async def run(command: str, **environment: str) -> str:
    bash = await asyncio.create_subprocess_exec(
        *("bash", "-e", "-c", command),
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, said = await bash.communicate()
    assert bash.returncode == 0, said.decode()
    return out.decode()


async def test_a_copied_command_connects(tmp_path: Path) -> None:
    async with opened_region(tmp_path, MINI, host_address=_ADDRESS) as region:
        await region.cloud.start()
        async with first_login(region.cloud.state, region.cloud.url) as page:
            await page.goto("/console/databases/mysql/instances?do=create_mysql_database")
            await page.get_by_label("Label", exact=False).first.fill("heron-orders")
            await page.locator("#f-region").select_option("local")
            await page.locator("#f-type").select_option("g1-nano-1")
            await page.locator("#f-engine").select_option("mysql/10.11")
            await page.locator("#f-allow_list").fill(_ADDRESS)
            await send(page)
            await expect(page.locator(".summary")).to_contain_text("Active", timeout=_SECONDS)
            database = page.url.partition("?")[0]
            authority, connect = await copied(page, "authority"), await copied(page, "connect")
            await page.goto(f"{database}/credentials")
            secret = (await page.locator("dd").nth(1).inner_text()).strip()
            command = f"cd {tmp_path}\n{authority}\n{connect} --execute='select 6 * 7'"
            said = await run(command.replace("--password", f"--password={secret}"))
            assert "42" in said
