"""The API in TLS: what a connection costs before it is one, and what Roost says of itself."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from roost.app.own_tls import make_tls
from roost.web import protocol, tls
from tests.support.server import RunningRoost, running_roost, simulated

_EACH = 3
"""Connections of one address in these tests."""
_SECONDS = 60.0

REGIONS = b"GET /v4/regions HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
async def secure(tmp_path: Path, database_url: str) -> AsyncIterator[RunningRoost]:
    made = make_tls(tmp_path, ())
    files = {"tls_cert": made.certificate, "tls_key": made.key}
    wanted = simulated(tmp_path, database_url, connections_per_address=_EACH, **files)
    async with running_roost(wanted) as running:
        yield running


def trusting(secure: RunningRoost) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=secure.roost.settings.state / "tls" / "ca.pem")
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@asynccontextmanager
async def connected(
    secure: RunningRoost, context: ssl.SSLContext | None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Without a context: a connection that says nothing of TLS."""
    place = urlsplit(secure.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, ssl=context)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def status(secure: RunningRoost, context: ssl.SSLContext, sent: bytes) -> int:
    async with connected(secure, context) as (reader, writer), asyncio.timeout(_SECONDS):
        writer.write(sent)
        return int((await reader.readline()).split()[1])


async def ended(reader: asyncio.StreamReader) -> bool:
    async with asyncio.timeout(_SECONDS):
        try:
            return await reader.read() == b""
        except ConnectionError:
            return True


async def test_urls_that_roost_makes_of_itself_say_https(secure: RunningRoost) -> None:
    assert secure.url.startswith("https://")
    headers = {"Authorization": f"Bearer {secure.token}"}
    connector = aiohttp.TCPConnector(ssl=trusting(secure))
    async with aiohttp.ClientSession(secure.url, headers=headers, connector=connector) as session:
        wanted = {"label": "mine", "region": "us-lake"}
        async with session.post("/v4/images/upload", json=wanted) as answer:
            assert answer.status == 200, await answer.text()
            upload_to = (await answer.json())["upload_to"]
        assert upload_to.startswith(f"{secure.url}/")
        async with session.put(upload_to, data=b"no disk") as answer:
            assert answer.status == 400
        async with session.get("/.well-known/oauth-authorization-server") as answer:
            assert (await answer.json())["issuer"] == secure.url
        async with session.get("/login") as answer:
            assert answer.status == 200
            assert "secure" in answer.headers["Set-Cookie"].lower()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_versions(secure: RunningRoost, version: ssl.TLSVersion) -> None:
    context = trusting(secure)
    context.minimum_version = context.maximum_version = version
    assert await status(secure, context, REGIONS + b"\r\n") == 200


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_older_versions_are_refused(secure: RunningRoost) -> None:
    context = trusting(secure)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await status(secure, context, REGIONS + b"\r\n")


async def test_many_requests_of_one_connection(secure: RunningRoost) -> None:
    async with connected(secure, trusting(secure)) as (reader, writer), asyncio.timeout(_SECONDS):
        for _ in range(20):
            writer.write(REGIONS + b"\r\n")
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            assert head.startswith("http/1.1 200")
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            await reader.readexactly(length)


async def test_heads_are_bounded_and_refused_in_the_apis_form(secure: RunningRoost) -> None:
    sent = REGIONS + b"X-A: " + b"a" * (protocol.MAX_HEAD + 1) + b"\r\n\r\n"
    async with connected(secure, trusting(secure)) as (reader, writer), asyncio.timeout(_SECONDS):
        writer.write(sent)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert head.startswith("HTTP/1.1 431 ")
        assert b"The headers must have at most" in await reader.readuntil(b"]}")
        assert await ended(reader)


async def test_what_is_no_tls_is_not_answered(secure: RunningRoost) -> None:
    for _ in range(2 * _EACH):
        async with connected(secure, None) as (reader, writer):
            writer.write(REGIONS + b"\r\n")
            assert await ended(reader)
    assert await status(secure, trusting(secure), REGIONS + b"\r\n") == 200


async def test_who_leaves_a_handshake_out_makes_room(secure: RunningRoost) -> None:
    """They are counted, so that the oldest of them goes when somebody else comes."""
    async with (
        connected(secure, None) as (first, _),
        connected(secure, None),
        connected(secure, None) as (last, _),
    ):
        assert await status(secure, trusting(secure), REGIONS + b"\r\n") == 200
        assert await ended(first)
        assert not last.at_eof()


async def test_a_handshake_has_its_time(
    secure: RunningRoost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "HANDSHAKE_SECONDS", 0.05)
    async with connected(secure, None) as (reader, writer):
        writer.write(b"\x16\x03\x01")
        assert await ended(reader)
