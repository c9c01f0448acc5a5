"""Disks to upload, and how they are sent."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp

from tests.support.client import Client, Json

UPLOAD = "/images/upload"
MB = 1024 * 1024
OCTETS = {"Content-Type": "application/octet-stream"}


def disk_bytes(mark: str, size: int = MB) -> bytes:
    """A raw disk with a boot sector that begins with a mark."""
    return mark.encode().ljust(510, b"\0") + b"\x55\xaa" + bytes(size - 512)


async def pending(client: Client, **changes: object) -> Json:
    """What a new upload answers."""
    return await client.post(UPLOAD, {"label": "built", "region": "us-lake", **changes})


async def send(
    url: str, data: bytes | AsyncIterator[bytes], headers: dict[str, str] | None = None
) -> tuple[int, Json]:
    """Status and body of what is answered, without a token."""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session,
        session.put(url, data=data, headers=headers or OCTETS) as answer,
    ):
        return answer.status, await answer.json()


async def in_pieces(*pieces: bytes, then: asyncio.Event) -> AsyncIterator[bytes]:
    """The rest comes when `then` is set."""
    yield pieces[0]
    await then.wait()
    for piece in pieces[1:]:
        yield piece
