"""Parameters of queries and forms, as RFC 6749 wants them: UTF-8, each at most once."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from urllib.parse import parse_qsl

from multipart import MultipartError, MultipartParser, parse_options_header
from starlette.requests import Request

MAX_FORM = 64 * 1024
"""Bytes of a form."""
_MAX_FIELDS = 50
_READ_SECONDS = 20
"""For a whole form."""
_MULTIPART = "multipart/form-data"
_FORM_TYPE = "application/x-www-form-urlencoded"


class BadFormError(Exception):
    """Not a form, too long, or with characters that no parameter may have."""


class Params:
    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Raises BadFormError."""
        if any("\0" in name + value for name, value in pairs):
            raise BadFormError("NUL characters are not allowed")
        self._values = dict(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = sorted(name for name, count in counts.items() if count > 1)

    def get(self, name: str) -> str | None:
        """None when absent or empty, which mean the same (RFC 6749, 3.1)."""
        return self._values.get(name) or None


def raw_query(request: Request) -> str:
    """As it was sent."""
    query: bytes = request.scope["query_string"]
    return query.decode("ascii", "replace")


def read_query(request: Request) -> Params:
    """Raises BadFormError."""
    return Params(_urlencoded(raw_query(request)))


async def read_form(request: Request) -> Params:
    """Raises BadFormError for anything but a form of a modest size, without files, in time."""
    media_type, options = parse_options_header(request.headers.get("content-type", ""))
    if media_type not in (_FORM_TYPE, _MULTIPART):
        raise BadFormError(f"Content-Type must be {_FORM_TYPE}")
    try:
        async with asyncio.timeout(_READ_SECONDS):
            raw = await _read(request)
    except TimeoutError:
        raise BadFormError("the form took too long") from None
    if media_type == _MULTIPART:
        return Params(_multipart(raw, options.get("boundary", "")))
    return Params(_urlencoded(raw.decode("ascii", "replace")))


async def _read(request: Request) -> bytes:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_FORM:
            raise BadFormError(f"the form must not be larger than {MAX_FORM} bytes")
    return raw


def _urlencoded(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise BadFormError("too many parameters") from None


def _multipart(raw: bytes, boundary: str) -> list[tuple[str, str]]:
    """As `curl -F` sends it."""
    if not boundary:
        raise BadFormError("the form names no boundary")
    try:
        parts = MultipartParser(
            BytesIO(raw), boundary, part_limit=_MAX_FIELDS, memory_limit=MAX_FORM, strict=True
        ).parts()
        if any(part.filename is not None for part in parts):
            raise BadFormError("files are not allowed")
        return [(part.name, part.value) for part in parts]
    except (MultipartError, UnicodeDecodeError):
        raise BadFormError("the form is broken") from None
