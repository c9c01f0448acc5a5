"""What a connection may send, how long it may take, and how many there may be."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from roost.oauth import forms
from roost.web import protocol
from tests.support.server import RunningRoost, running_roost, simulated

HOST = b"Host: x\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
REGIONS = b"GET /v4/regions HTTP/1.1\r\n" + HOST


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection without a client's good manners."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and the reason of the refusal, if it is one."""
        async with asyncio.timeout(60):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines)
            raw = await self.reader.readexactly(int(headers["content-length"]))
        body = json.loads(raw)
        assert headers["content-type"] == "application/json"
        reason = body["errors"][0]["reason"] if "errors" in body else ""
        return int(first.split()[1]), headers, reason

    async def ended(self) -> bool:
        """Whether the server ends it, without another word."""
        async with asyncio.timeout(60):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


@asynccontextmanager
async def wire(url: str, sent: bytes = b"") -> AsyncIterator[Wire]:
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(sent)
        yield Wire(reader, writer)
    finally:
        writer.close()


def get(path: str, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode("latin-1")


async def test_heads_up_to_the_bounds_are_read(running: RunningRoost) -> None:
    lines = [f"X-{n}: {'a' * 250}" for n in range(protocol.MAX_LINES - 1)]
    async with wire(running.url, get("/v4/regions", *lines)) as each:
        assert (await each.answer())[0] == 200
    async with wire(running.url, get("/v4/regions?" + "a" * 8000)) as each:
        assert (await each.answer())[0] == 200


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (get("/v4/regions", "X-A: " + "a" * 33_000), 431, "The headers must have at most"),
        (REGIONS + b"X-A: " + b"a" * 33_000, 431, "The headers must have at most"),
        (REGIONS + b"X-" + b"a" * 33_000, 431, "The headers must have at most"),
        (get("/v4/regions", *["a: b"] * 101), 431, "The headers must have at most"),
        (get("/" + "a" * 9_000), 414, "The URL must have at most 8192 bytes"),
        (b"GET /" + b"a" * 9_000, 414, "The URL must have at most 8192 bytes"),
        (get("/" + "a" * 70_000), 414, "The URL must have at most 8192 bytes"),
        (b"FOO /v4/regions HTTP/1.1\r\n" + HOST + b"\r\n", 405, "Method Not Allowed"),
        (b"get /v4/regions HTTP/1.1\r\n" + HOST + b"\r\n", 405, "Method Not Allowed"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 405, "Method Not Allowed"),
        (get("/v4/volumes", "Content-Length: 1", "Content-Length: 2"), 400, "Invalid HTTP request"),
        (get("/v4/volumes", "Content-Length: -1"), 400, "Invalid HTTP request"),
        (get("/\xff"), 400, "Invalid HTTP request"),
        (b"GET /v4/regions FTP/1.1\r\n\r\n", 400, "Invalid HTTP request"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_the_apis_form(
    running: RunningRoost, sent: bytes, status: int, reason: str
) -> None:
    async with wire(running.url, sent) as each:
        answered, headers, told = await each.answer()
        assert (answered, told[: len(reason)]) == (status, reason)
        assert headers["connection"] == "close"
        assert headers["x-spec-version"]
        assert ("allow" in headers) == (status == 405)
        assert await each.ended()


async def test_a_head_without_an_end_is_not_kept(running: RunningRoost) -> None:
    async with wire(running.url, REGIONS + b"X-A: ") as each:
        answer, sent = asyncio.create_task(each.answer()), 0
        while not answer.done():
            each.writer.write(b"a" * 1000)
            await each.writer.drain()
            await asyncio.sleep(0)
            sent += 1000
        assert (await answer)[0] == 431
        assert sent < 5_000_000
    async with wire(running.url, get("/v4/regions")) as each:
        assert (await each.answer())[0] == 200


async def test_trailers_and_chunk_sizes_are_part_of_the_bound(running: RunningRoost) -> None:
    head = b"POST /v4/volumes HTTP/1.1\r\n" + HOST
    head += f"Authorization: Bearer {running.token}\r\n".encode()
    head += b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    for rest in (b"0\r\nX-T: " + b"a" * 40_000, b"1;x=" + b"a" * 40_000):
        async with wire(running.url, head) as each:
            assert await each.reader.readuntil(b"\r\n\r\n") == CONTINUE
            each.writer.write(rest)
            status, _, reason = await each.answer()
            assert (status, reason[:11]) == (431, "The headers")
            assert await each.ended()


async def test_a_body_does_not_come_in_crumbs(running: RunningRoost) -> None:
    head = b"POST /v4/volumes HTTP/1.1\r\n" + HOST
    head += f"Authorization: Bearer {running.token}\r\n".encode()
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    crumbs = b"1\r\n \r\n" * (protocol.MAX_SMALL_PIECES + 100)
    async with wire(running.url, head + crumbs) as each:
        status, _, reason = await each.answer()
        assert (status, reason) == (400, protocol._TOO_MANY_PIECES)
        assert await each.ended()
    few = b"1\r\n \r\n" * protocol.MAX_SMALL_PIECES + b"0\r\n\r\n"
    async with wire(running.url, head + few) as each:
        assert (await each.answer())[::2] == (400, "Invalid JSON")


async def test_bodies_are_no_heads(running: RunningRoost) -> None:
    head = b"POST /v4/volumes HTTP/1.1\r\n" + HOST
    head += f"Authorization: Bearer {running.token}\r\n".encode()
    body = b'{"label": "' + b"x" * 200_000 + b'"}'
    plain = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunks = b"".join(b"64\r\n" + b" " * 100 + b"\r\n" for _ in range(1000)) + b"0\r\n\r\n"
    async with wire(running.url, plain) as each:
        assert (await each.answer())[0] == 400
    async with wire(running.url, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks) as each:
        assert (await each.answer())[::2] == (400, "Invalid JSON")


async def test_heads_have_their_time(
    running: RunningRoost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    async with wire(running.url) as silent, wire(running.url, REGIONS) as slow:
        assert (await slow.answer())[::2] == (408, "Request Timeout")
        assert await slow.ended()
        assert await silent.ended()
    async with wire(running.url, get("/v4/regions")) as kept:
        assert (await kept.answer())[0] == 200
        kept.writer.write(b"\r\n")
        assert (await kept.answer())[::2] == (408, "Request Timeout")


async def test_an_answered_connection_is_kept_for_the_next_request(
    running: RunningRoost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 1.0)
    async with wire(running.url, get("/v4/regions")) as kept, wire(running.url) as silent:
        assert (await kept.answer())[0] == 200
        assert await silent.ended(), "later than the first one would have been"
        kept.writer.write(get("/v4/regions") + get("/v4/regions"))
        assert [(await kept.answer())[0] for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("path", ["/oauth/token", "/login"])
async def test_forms_have_their_time(
    running: RunningRoost, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(forms, "_READ_SECONDS", 0.2)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\n\r\na"
    async with wire(running.url, head.encode()) as each, asyncio.timeout(60):
        assert (await each.reader.readline()).split()[1] == b"400"


async def test_who_opens_too_many_connections_loses_the_oldest(
    tmp_path: Path, database_url: str
) -> None:
    settings = simulated(tmp_path, database_url, connections_per_address=3)
    async with (
        running_roost(settings) as running,
        wire(running.url) as first,
        wire(running.url) as second,
        wire(running.url),
        wire(running.url, get("/v4/regions")) as late,
    ):
        assert (await late.answer())[0] == 200
        assert await first.ended()
        second.writer.write(get("/v4/regions"))
        assert (await second.answer())[0] == 200


async def test_who_is_busy_on_all_connections_gets_no_more(
    tmp_path: Path, database_url: str
) -> None:
    settings = simulated(tmp_path, database_url, connections_per_address=2)
    async with running_roost(settings) as running:
        post = b"POST /v4/volumes HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\n"
        post += f"Authorization: Bearer {running.token}\r\nContent-Length: 2\r\n\r\n".encode()
        async with wire(running.url, post) as first, wire(running.url, post) as second:
            for each in (first, second):
                assert await each.reader.readuntil(b"\r\n\r\n") == CONTINUE
            async with wire(running.url, get("/v4/regions")) as third:
                status, headers, reason = await third.answer()
                assert (status, reason) == (429, "Too many connections")
                assert headers["retry-after"] == "1"
                assert await third.ended()
            first.writer.write(b"{}")
            assert (await first.answer())[0] == 400
            async with wire(running.url, get("/v4/regions")) as third:
                assert (await third.answer())[0] == 200
