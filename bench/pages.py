"""Pages of the web console, against the operations that they read; and what a first visit loads."""

import gzip
import re
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from itertools import cycle
from pathlib import Path
from statistics import median

import aiohttp

from bench import load
from bench.database import Account, make_account
from bench.edge import roost_server
from bench.events import open_streams, share_of_core
from bench.load import request
from bench.results import Result
from roost.resources.users.queries import set_password
from roost.secrets import hash_password
from roost.store import Store

_INSTANCES = 100_000
_OPEN = 200
_ROUNDS = 8
_SECONDS = 0.3
_PASSWORD = "correct horse battery staple"
_LIST = "/v4/compute/instances"
_PROFILE = "/v4/profile"
_START = (
    f"{_LIST}?page_size=25",
    "/v4/volumes?page_size=25",
    "/v4/databases/instances?page_size=25",
    "/v4/account/events?page_size=25",
    "/v4/account/estimate",
    "/v4/account/notifications",
    _PROFILE,
)


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    large = await _account(store, "large", _INSTANCES)
    small = await _account(store, "small", 100)
    one = f"{_LIST}/{small.instances[7]}"
    parts = ("", "/disks", "/volumes", "/firewalls", "/transfer")
    events = "/v4/account/events?page_size=25"
    listed, shown = "/console/compute/instances", one.replace("/v4", "/console")
    with roost_server(state, store.dsn) as (pid, port):
        cookie, first = await _enter(port, "small")
        reads = {shown: (*(one + part for part in parts), events, _PROFILE), "/": _START}
        took = await _take_turns(port, reads, small.token, cookie)
        other, _ = await _enter(port, "large")
        many = {listed: (_LIST, _PROFILE)}
        took |= await _take_turns(port, many, large.token, other)
        opened = [_asked("/console/live", each) for each in (cookie, other)] * (_OPEN // 2)
        streams = await open_streams(port, opened, {})
        yield Result(f"{_OPEN} open pages: of a core", await share_of_core(pid), "%", 5.0)
        for stream in streams:
            stream.transport.abort()
    yield Result("page of 100 of 100,000 instances", took[listed] * 1000, "ms", 60)
    for page, read in {**many, **reads}.items():
        whole = sum(took[each] for each in read)
        name = {listed: "list", shown: "instance"}.get(page, "start page")
        note = f"{took[page] * 1000:.1f} ms; {len(read)} operations {whole * 1000:.1f} ms"
        yield Result(f"console, {name}: of its operations", took[page] / whole, "x", 1.5, note=note)
    yield Result("first visit of the console, compressed", first / 1024, "KB", 150)


async def _account(store: Store, username: str, instances: int) -> Account:
    account = await make_account(store, username, instances)
    await set_password(store, username, hash_password(_PASSWORD), datetime(2020, 1, 1))
    return account


async def _enter(port: int, username: str) -> tuple[str, int]:
    """A session's cookie, and the bytes of the start page with all that it loads."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", cookie_jar=jar) as session:
        return await _first_visit(session, username)


async def _first_visit(session: aiohttp.ClientSession, username: str) -> tuple[str, int]:
    async with session.get("/login?next=/") as answer:
        csrf = re.search('name="csrf" value="([0-9a-f]+)"', await answer.text())
    assert csrf is not None
    form = {"csrf": csrf[1], "username": username, "password": _PASSWORD}
    async with session.post("/login?next=/", data=form) as answer:
        html = await answer.text()
    size = len(gzip.compress(html.encode()))
    for name in re.findall('(?:src|href)="(/console/static/[^"]+)"', html):
        async with session.get(name) as file:
            size += len(gzip.compress(await file.read()))
    cookies = session.cookie_jar.filter_cookies(answer.url)
    return cookies["roost_session"].value, size


def _asked(page: str, cookie: str) -> bytes:
    return request("GET", page, headers=[f"cookie: roost_session={cookie}"])


async def _take_turns(
    port: int, reads: Mapping[str, tuple[str, ...]], token: str, cookie: str
) -> dict[str, float]:
    """The median seconds of each page and operation, one asked for at a time."""
    sent = {page: _asked(page, cookie) for page in reads}
    sent |= {each: request("GET", each, token) for known in reads.values() for each in known}
    took: dict[str, list[float]] = {name: [] for name in sent}
    for _ in range(_ROUNDS):
        for name, each in sent.items():
            took[name] += await load.send(port, cycle([each]), _SECONDS, connections=1)
    return {name: median(seconds) for name, seconds in took.items()}
