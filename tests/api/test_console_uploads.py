"""Files from the console's page of a bucket: what is passed on, what is refused before it is read,
and in which words."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.async_api import Route, expect

from roost.console import links, parts, uploads
from roost.console.file_forms import EXPIRED, MAX_FILES, MAX_FORM, TOO_LARGE, TOO_MANY_FILES
from roost.engines.simulated.objects import SimulatedObjects
from tests.api.conftest import Account
from tests.support.answering_s3 import AnsweringS3, answering_s3
from tests.support.browser import FORM, Browser
from tests.support.chromium import NARROW, THEMES, findings, open_chromium, open_page
from tests.support.client import Client
from tests.support.oauth import PASSWORD
from tests.support.object_storage import made_bucket, path_of

_PART = 16 * 1024 * 1024
"""Bytes."""
_TOO_WIDE = "document.documentElement.scrollWidth > document.body.clientWidth"
QUOTA = (403, "QuotaExceeded", "The account may not store as much.")


@pytest.fixture
async def s3(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AnsweringS3]:
    """At the end of the URLs that are signed."""
    async with answering_s3() as (s3, url):

        async def endpoint(_: SimulatedObjects) -> str:
            return url

        monkeypatch.setattr(SimulatedObjects, "endpoint", endpoint)
        yield s3


class Sender:
    """As the script of a bucket's page."""

    def __init__(self, browser: Browser, bucket: str, csrf: str) -> None:
        self.browser, self.page, self.csrf = browser, f"/console{bucket}", csrf

    async def send(
        self,
        method: str,
        data: bytes | None = None,
        form: dict[str, str] | None = None,
        **query: str,
    ) -> tuple[int, dict[str, str] | str]:
        """Status, and the answer or why not."""
        headers = {"X-Csrf": self.csrf, **({} if form is None else FORM)}
        sent = data if form is None else urlencode(form).encode()
        path = f"{self.page}/upload?{urlencode(query)}"
        page = await self.browser.send(method, path, sent, headers)
        told = page.json()
        reasons = "; ".join(each["reason"] for each in told.get("errors", []))
        return page.status, reasons or told


@pytest.fixture
async def sender(client: Client, user_browser: Browser) -> Sender:
    path = path_of(await made_bucket(client))
    page = await user_browser.get(f"/console{path}")
    (form,) = (each for each in page.forms if each.action.endswith("/upload"))
    return Sender(user_browser, path, form.fields["csrf"])


async def test_a_file_is_put_whole_or_by_parts(sender: Sender, s3: AnsweringS3) -> None:
    name = "dir/a b+c%.\U0001f600\n.txt"
    assert (await sender.send("PUT", b"letter", name=name, type="text/plain"))[0] == 200
    assert (await sender.send("PUT", b"", name="empty"))[0] == 200
    assert s3.objects == {name: b"letter", "empty": b""}
    assert s3.kinds == {name: "text/plain", "empty": parts.ANY_TYPE}
    _, told = await sender.send("POST", form={"name": "film", "type": "video/mp4"})
    assert isinstance(told, dict)
    upload = told["upload"]
    for part in ("1", "2"):
        answer = await sender.send("PUT", part.encode() * 9, name="film", upload=upload, part=part)
        assert answer == (200, {"etag": f'"{part}"'})
    ended = {"name": "film", "upload": upload, "etags": '"1"\n"2"'}
    assert (await sender.send("POST", form=ended))[0] == 200
    assert (s3.objects["film"], s3.kinds["film"]) == (b"1" * 9 + b"2" * 9, "video/mp4")
    _, told = await sender.send("POST", form={"name": "film"})
    assert isinstance(told, dict)
    assert (await sender.send("DELETE", name="film", upload=told["upload"]))[0] == 200
    assert s3.uploads == {}


async def test_what_is_refused_says_why(sender: Sender, s3: AnsweringS3, client: Client) -> None:
    s3.refusal = QUOTA
    said = (403, "The account may not store as much. (QuotaExceeded)")
    assert await sender.send("PUT", bytes(4 << 20), name="a") == said
    s3.refusal = (507, "InsufficientStorage", "The storage of this region is full.")
    said = (507, "The storage of this region is full. (InsufficientStorage)")
    assert await sender.send("PUT", b"letter", name="a") == said
    s3.refusal = None
    status, reason = await sender.send("PUT", b"letter", name="a/../b")
    assert (status, ".." in reason) == (400, True)
    gone = {"name": "a", "upload": "upload-9", "etags": "1"}
    assert (await sender.send("POST", form=gone))[0] == 404
    for etags in ("", "<Part>", "1\n" * 10_001):
        wrong = {"name": "a", "upload": "upload-9", "etags": etags}
        assert await sender.send("POST", form=wrong) == (400, parts.PARTS)
    assert s3.objects == {}
    await client.delete(sender.page.removeprefix("/console"))
    assert await sender.send("PUT", b"letter", name="a") == (404, parts.GONE)


async def test_a_simulated_region_stores_nothing(sender: Sender) -> None:
    assert await sender.send("PUT", b"letter", name="a") == (422, links.SIMULATED)


async def test_only_our_own_pages_send(sender: Sender, s3: AnsweringS3) -> None:
    """Nothing of the body is read: of this one, nothing comes."""
    sender.csrf = "0" * 64
    assert await sender.send("PUT", b"letter", name="a") == (403, uploads.OTHER_LOGIN)
    assert await sender.send("POST", form={"name": "a"}) == (403, uploads.OTHER_LOGIN)
    assert await sender.send("DELETE", name="a", upload="u") == (403, uploads.OTHER_LOGIN)
    await sender.browser.submit(await sender.browser.get("/"))
    assert await sender.send("PUT", b"letter", name="a") == (401, uploads.LOGGED_OUT)
    assert s3.asked == []


async def test_so_many_at_once(
    sender: Sender, s3: AnsweringS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_EACH", 0)
    assert await sender.send("PUT", b"letter", name="a") == (429, uploads.TOO_MANY)
    # Who wants less needs no place.
    assert (await sender.send("DELETE", name="a", upload="upload-9"))[0] == 404
    s3.asked.clear()
    monkeypatch.setattr(parts, "MAX_PART", 5)
    monkeypatch.setattr(uploads, "MOST_EACH", 1)
    assert await sender.send("PUT", b"letter", name="a") == (413, parts.LENGTH)
    assert s3.asked == []


def _form(*fields: tuple[str, str]) -> tuple[bytes, dict[str, str]]:
    """Of a plain form, as browsers send it."""
    heads = [
        f"--limit\r\nContent-Disposition: form-data; {said}\r\n\r\n{text}\r\n"
        for said, text in fields
    ]
    kind = {"Content-Type": "multipart/form-data; boundary=limit"}
    return f"{''.join(heads)}--limit--\r\n".encode(), kind


async def test_a_plain_form_does_without_scripts(sender: Sender, s3: AnsweringS3) -> None:
    path, csrf = f"{sender.page}/upload", ('name="csrf"', sender.csrf)
    files = [('name="file"; filename="say %22hi%22.txt"', "hi"), ('name="file"; filename=""', "")]
    data, kind = _form(csrf, ('name="prefix"', "letters/"), *files)
    done = await sender.browser.send("POST", path, data, kind)
    assert done.location == f"{sender.page}?prefix=letters%2F"
    assert s3.objects == {'letters/say "hi".txt': b"hi"}
    for fields, status, reason in (
        ([files[0], csrf], 403, EXPIRED),
        ([('name="csrf"', "0" * 64), files[0]], 403, EXPIRED),
        ([csrf, files[1]], 400, uploads.NO_FILE),
        ([csrf, ('name="file"; filename="a"', "a" * MAX_FORM)], 413, TOO_LARGE),
        ([csrf, *[files[0]] * (MAX_FILES + 3)], 413, TOO_MANY_FILES),
    ):
        data, kind = _form(*fields)
        page = await sender.browser.send("POST", path, data, kind)
        assert (page.status, reason in page.text) == (status, True), reason
    s3.refusal = QUOTA
    data, kind = _form(csrf, ('name="file"; filename="<b>"', "b"))
    page = await sender.browser.send("POST", path, data, kind)
    assert (page.status, "&lt;b&gt;" in page.text) == (400, True)
    assert "may not store as much. (QuotaExceeded)" in page.text
    assert len(s3.objects) == 1


def _files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).write_text(name)
    return [folder / name for name in names]


def _large(folder: Path) -> Path:
    """Of three parts."""
    file = folder / "film"
    with file.open("wb") as written:
        written.truncate(2 * _PART + 1)
    return file


def _hold(_: Route) -> None:
    """It neither goes on nor fails."""


@pytest.mark.browser
@pytest.mark.story
async def test_a_page_sends_files(
    sender: Sender, s3: AnsweringS3, user: Account, tmp_path: Path
) -> None:
    """Small and large ones; what was refused or broke off goes on, what is cancelled is gone."""
    strange = ("a b+c%.txt", "\N{GRINNING FACE}\n.txt", "<img src=x onerror=alert(1)>")
    async with open_chromium() as chromium, open_page(chromium, sender.browser, NARROW) as page:
        await page.goto(sender.page)
        chosen, said = page.get_by_label("Files"), page.locator("#upload [role=status]")
        await chosen.set_input_files(_files(tmp_path, *strange))
        await expect(said).to_have_text("3 of 3 files are there.")
        assert {name: body.decode() for name, body in s3.objects.items()} == {
            name: name for name in strange
        }

        s3.refusal = QUOTA
        await chosen.set_input_files(_files(tmp_path, "much"))
        await expect(page.locator(".files .error")).to_contain_text("may not store as much.")
        for theme in THEMES:
            await page.emulate_media(color_scheme=theme)
            assert await findings(page) == [], theme
        assert not await page.evaluate(_TOO_WIDE)
        s3.refusal = None
        await page.get_by_role("button", name="Send again: much").press("Enter")
        await expect(said).to_have_text("4 of 4 files are there.")

        # The second part waits: nothing of this depends on how fast the first one was.
        await page.route("**/upload?*part=2", _hold)
        await chosen.set_input_files(_large(tmp_path))
        await expect(page.locator(".files li").last).to_contain_text("49 %")
        async with page.expect_response(lambda told: told.request.method == "DELETE"):
            await page.get_by_role("button", name="Cancel film").press("Enter")
        await expect(said).to_have_text("4 of 5 files are there, 1 cancelled.")
        assert (s3.uploads, "film" in s3.objects) == ({}, False)

        # A session that ends in the middle: what had come of the file stays, and it goes on.
        await page.unroute("**/upload?*part=2")

        async def log_out(route: Route) -> None:
            await sender.browser.submit(await sender.browser.get("/"))
            await route.continue_()

        await page.route("**/upload?*part=2", log_out)
        await chosen.set_input_files(_large(tmp_path))
        await expect(page.locator(".files .error")).to_have_text(uploads.LOGGED_OUT)
        await page.unroute("**/upload?*part=2")
        other = await page.context.new_page()
        await other.goto("/")
        await other.get_by_label("User name").fill(user.username)
        await other.get_by_label("Password").fill(PASSWORD)
        await other.get_by_role("button", name="Log in").click()
        await expect(other.get_by_role("heading", level=1)).to_have_text("Overview")
        await page.get_by_role("button", name="Send again: film").click()
        await expect(said).to_have_text("5 of 6 files are there, 1 cancelled.")
        assert s3.objects["film"] == bytes(2 * _PART + 1)
        assert (s3.uploads, s3.begun) == ({}, 2)
