"""Servers behind signed links that stop to answer, or to take what is sent."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from roost.console import links
from roost.console.links import UNREACHABLE, Told, follow

_PIECES = 64


async def _pieces() -> AsyncIterator[bytes]:
    """More than two sockets hold."""
    for _ in range(_PIECES):
        yield bytes(1 << 20)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 100 Continue\r\n\r\n"])
@pytest.mark.parametrize("is_whole", [False, True])
async def test_nobody_waits_for_ever(
    said: bytes, is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it says nothing at all, or that it goes on, and then takes nothing."""
    monkeypatch.setattr(links, "_ANSWER_SECONDS", 0.3)
    ended = asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await ended.wait()
        writer.close()

    async with await asyncio.start_server(stall, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/bucket/film"
        body = bytes(1 << 20) * _PIECES if is_whole else _pieces()
        told = await follow("PUT", url, body, _PIECES << 20)
        ended.set()
    assert told == Told(502, reason=UNREACHABLE)
