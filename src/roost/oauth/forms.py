"""Parameters of queries and forms, as RFC 6749 wants them: UTF-8, each at most once."""

import asyncio
from collections import Counter
from urllib.parse import parse_qsl

from starlette.requests import Request

MAX_FORM = 64 * 1024
"""Bytes of a form."""
_MAX_FIELDS = 50
_READ_SECONDS = 20
"""For a whole form."""
_FORM_TYPE = "application/x-www-form-urlencoded"


class BadFormError(Exception):
    """Not a form, too long, or with characters that no parameter may have."""


class Params:
    def __init__(self, text: str) -> None:
        """Raises BadFormError."""
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            raise BadFormError("too many parameters") from None
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
    return Params(raw_query(request))


async def read_form(request: Request) -> Params:
    """Raises BadFormError for anything but a form of a modest size that comes in time."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _FORM_TYPE:
        raise BadFormError(f"Content-Type must be {_FORM_TYPE}")
    try:
        async with asyncio.timeout(_READ_SECONDS):
            return Params((await _read(request)).decode("ascii", "replace"))
    except TimeoutError:
        raise BadFormError("the form took too long") from None


async def _read(request: Request) -> bytes:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_FORM:
            raise BadFormError(f"the form must not be larger than {MAX_FORM} bytes")
    return raw
