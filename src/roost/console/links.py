"""Requests to object storage by links that the API has signed, as whoever has one may make them."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from defusedxml import ElementTree
from yarl import URL

_ANSWER_SECONDS = 300
"""Without a byte: a large upload is put together of its parts in that time."""
_CONNECT_SECONDS = 30
_NOWHERE = ".invalid"
"""What no name below leads to (RFC 6761): a region that is simulated has such links."""
SIMULATED = "This region is simulated: its buckets hold no objects"
UNREACHABLE = "The object storage of the region does not answer: try again"
CUT_OFF = "The connection broke before all had come"


@dataclass(frozen=True, slots=True)
class Told:
    """What object storage has answered."""

    status: int
    etag: str = ""
    said: Element | None = None
    reason: str = ""
    """Why it refuses; empty where it does not."""

    def text(self, name: str) -> str:
        """Of an element of the answer; empty where there is none."""
        return "" if self.said is None else self.said.findtext(f"{{*}}{name}") or ""


async def follow(
    method: str,
    url: str,
    body: bytes | AsyncIterable[bytes] = b"",
    length: int = 0,
    content_type: str | None = None,
) -> Told:
    """Make the request of a link. Of a body that comes piece by piece little is held in memory, and
    no more is taken than the server does; it is not begun where the server refuses before."""
    if (urlsplit(url).hostname or "").endswith(_NOWHERE):
        return Told(422, reason=SIMULATED)
    import aiohttp  # Seldom needed: no start waits for it.

    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=_CONNECT_SECONDS, sock_read=_ANSWER_SECONDS
    )
    headers = {"Content-Length": str(length)}
    # Aiohttp would name one of its own.
    headers |= {} if content_type is None else {"Content-Type": content_type}
    skipped = ("Content-Type",) if content_type is None else ()
    try:
        async with (
            # Aiohttp's own bound begins when all is sent.
            asyncio.timeout(_ANSWER_SECONDS) as bound,
            aiohttp.ClientSession(timeout=timeout, skip_auto_headers=skipped) as session,
            session.request(
                method,
                URL(url, encoded=True),
                data=_watched(body, bound) if length else None,
                headers=headers,
                expect100=length > 0,
                allow_redirects=False,
            ) as answer,
        ):
            return _told(answer.status, answer.headers.get("ETag", ""), await answer.read())
    except (aiohttp.ClientError, TimeoutError) as error:
        cut_off = isinstance(error.__cause__, CutOffError)
        return Told(408, reason=CUT_OFF) if cut_off else Told(502, reason=UNREACHABLE)


async def _watched(
    body: bytes | AsyncIterable[bytes], bound: asyncio.Timeout
) -> AsyncIterator[bytes]:
    """Its pieces, each of which gives the server as long again."""
    if isinstance(body, bytes):
        yield body
        return
    async for piece in body:
        if not bound.expired():
            bound.reschedule(asyncio.get_running_loop().time() + _ANSWER_SECONDS)
        yield piece


class CutOffError(Exception):
    """A body ends before it is whole, or stops to come."""


def _told(status: int, etag: str, body: bytes) -> Told:
    try:
        said = ElementTree.fromstring(body) if body else None
    except (ElementTree.ParseError, ValueError):
        said = None
    told = Told(status, etag, said)
    # Uploads are completed with a 200 that may be an error (S3, CompleteMultipartUpload).
    if status < 300 and not (said is not None and said.tag.endswith("Error")):
        return told
    code, message = told.text("Code"), told.text("Message")
    reason = f"{message} ({code})" if message and code else message or code
    return Told(
        status if status >= 400 else 502, reason=reason or f"Object storage answers {status}"
    )
