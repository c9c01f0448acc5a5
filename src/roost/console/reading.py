"""Forms as browsers send them."""

import asyncio
from urllib.parse import parse_qs

from starlette.requests import Request

from roost.console.forms import Sent

MAX_FORM = 1024 * 1024
"""Bytes."""
_MAX_FIELDS = 5000
_READ_SECONDS = 60
_FORM_TYPE = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> Sent:
    """Without the token that makes it good where it is none, or too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != _FORM_TYPE:
        return {"csrf": [""]}
    raw = b""
    try:
        async with asyncio.timeout(_READ_SECONDS):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > MAX_FORM:
                    return {"csrf": [""]}
        text = raw.decode("ascii", "replace")
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except (TimeoutError, ValueError):
        return {"csrf": [""]}


def one(sent: Sent, name: str) -> str:
    """The first value of a name; empty where there is none."""
    return next(iter(sent.get(name, ())), "")
