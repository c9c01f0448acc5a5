"""The rules of batches."""

import re

import orjson

from roost.web.fields import refuse

MOST = 20
"""Requests of a batch."""
MOST_BYTES = 4 * 1024 * 1024
"""Of all answers together."""
AT_ONCE = 4
"""Of a batch's requests."""
SECONDS = 30.0
"""For all of them."""
_MOST_FILTER = 8192
_PATH = re.compile(r"/v4(?:beta)?/[!-~]*")


def known_path(path: str) -> str:
    if not _PATH.fullmatch(path) or "#" in path:
        raise refuse("Must be a path that begins with /v4/, quoted as in a URL")
    return path


def short_filter(wanted: dict[str, object]) -> dict[str, object]:
    """No longer than a header would be."""
    if len(orjson.dumps(wanted)) > _MOST_FILTER:
        raise refuse(f"Must have at most {_MOST_FILTER} bytes as JSON")
    return wanted
