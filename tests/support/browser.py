"""A browser without scripts: cookies, forms and redirects that it shows instead of following."""

import html
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
from multidict import CIMultiDictProxy
from yarl import URL

from tests.support.client import Json

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, slots=True)
class Page:
    status: int
    headers: CIMultiDictProxy[str]
    text: str

    @property
    def location(self) -> str | None:
        """Where it redirects to."""
        return self.headers.get("Location")

    @property
    def answer(self) -> dict[str, str]:
        """The parameters of the redirect, from the query or the fragment."""
        parts = urlsplit(self.location or "")
        values = parse_qs(parts.fragment or parts.query, strict_parsing=True)
        assert all(len(found) == 1 for found in values.values())
        return {name: found[0] for name, found in values.items()}

    @property
    def title(self) -> str:
        found = re.search("<title>(.*) · Roost</title>", self.text)
        return html.unescape(found[1]) if found else ""

    @property
    def error(self) -> str | None:
        found = re.search(r'<p class="error" id="error" role="alert">(.*)</p>', self.text)
        return html.unescape(found[1]) if found else None

    def json(self) -> Json:
        return json.loads(self.text)

    @property
    def forms(self) -> "list[Form]":
        reader = _FormReader()
        reader.feed(self.text)
        return reader.forms


@dataclass(frozen=True, slots=True)
class Form:
    action: str
    fields: dict[str, str]


class _FormReader(HTMLParser):
    """Of forms that change something; what others ask for is an address."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._asks = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            assert values["method"] in ("get", "post")
            self._asks = values["method"] == "get"
            if not self._asks:
                self.forms.append(Form(values["action"], {}))
        elif tag == "input" and not self._asks and _is_sent(values):
            self.forms[-1].fields[values["name"]] = values.get("value", "")


def _is_sent(values: Mapping[str, str]) -> bool:
    kind = values.get("type")
    return kind != "checkbox" and (kind != "radio" or "checked" in values)


class Browser:
    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self.url = url

    def elsewhere(self, url: str) -> "Browser":
        """The same browser at another server of the same host."""
        return Browser(self._session, url)

    async def get(self, path: str, **query: str) -> Page:
        return await self.send("GET", f"{path}?{urlencode(query)}" if query else path)

    async def submit(self, page: Page, index: int = 0, **fields: str) -> Page:
        """Fill a form of the page and send it."""
        form = page.forms[index]
        return await self.post(form.action, {**form.fields, **fields})

    async def post(self, path: str, fields: Mapping[str, str]) -> Page:
        return await self.send("POST", path, urlencode(fields).encode(), FORM)

    async def send(
        self,
        method: str,
        path: str,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        url = URL(self.url + path, encoded=True)
        request = self._session.request(
            method, url, data=data, headers=headers, allow_redirects=False
        )
        async with request as response:
            return Page(response.status, response.headers, await response.text())

    async def log_in(self, username: str, password: str) -> Page:
        return await self.submit(await self.get("/login"), username=username, password=password)

    def keep(self, name: str, value: str) -> None:
        """A cookie that it got before."""
        self._session.cookie_jar.update_cookies({name: value}, URL(self.url))

    def cookie(self, name: str) -> str | None:
        found = self._session.cookie_jar.filter_cookies(URL(self.url)).get(name)
        return found.value if found else None


@asynccontextmanager
async def open_browser(url: str) -> AsyncIterator[Browser]:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Browser(session, url)
