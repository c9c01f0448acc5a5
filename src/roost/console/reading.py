"""Forms as browsers send them."""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import parse_qs

from multipart import MultipartError, MultipartParser, parse_options_header
from starlette.requests import Request

from roost.console.forms import Sent
from roost.web.registry import Endpoint

MAX_FORM = 1024 * 1024
"""Bytes."""
_MAX_FIELDS = 5000
_READ_SECONDS = 60
_MAX_PARTS = 50
_MULTIPART = "multipart/form-data"
_FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class File:
    """What a form sends to an operation that takes no JSON."""

    content_type: str
    body: bytes


async def read_form(request: Request) -> Sent:
    """Without the token that makes it good where it is none, or too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    raw = await _read(request, MAX_FORM) if kind == _FORM_TYPE else None
    if raw is None:
        return {}
    try:
        text = raw.decode("ascii", "replace")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        return {}


async def read_file(request: Request, endpoint: Endpoint) -> tuple[Sent, File]:
    """The same of a form with a file, for an operation that takes that."""
    kind = request.headers.get("content-type", "")
    media_type, options = parse_options_header(kind)
    most = max(endpoint.max_body or 0, MAX_FORM)
    raw = await _read(request, most) if media_type == _MULTIPART else None
    if raw is None:
        return {}, File("", b"")
    try:
        boundary = options.get("boundary", "")
        parts = MultipartParser(
            BytesIO(raw), boundary, part_limit=_MAX_PARTS, memory_limit=most, strict=True
        ).parts()
        sent = {part.name: [part.value] for part in parts if part.filename is None}
    except (MultipartError, UnicodeDecodeError):
        return {}, File("", b"")
    if _MULTIPART in endpoint.accepts:
        return sent, File(kind, raw)
    files = (File(part.content_type, part.raw) for part in parts if part.filename)
    return sent, next(files, File("", b""))


async def _read(request: Request, most: int) -> bytes | None:
    raw = b""
    try:
        async with asyncio.timeout(_READ_SECONDS):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > most:
                    return None
    except TimeoutError:
        return None
    return raw


def one(sent: Sent, name: str) -> str:
    """The first value of a name; empty where there is none."""
    return next(iter(sent.get(name, ())), "")
