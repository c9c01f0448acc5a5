"""Tokens as their owners have them: narrowed without being looked up."""

import re

from roost.core.narrowing.chain import MARK
from roost.core.narrowing.restrictions import narrow, parse

_TOKEN = re.compile(r"[0-9a-f]{64}")


def narrowed_text(token: str, restriction: bytes) -> tuple[str, str]:
    """What a token is after a restriction, and that as JSON. ValueError for either, in words."""
    parsed = parse(restriction)
    if not (_TOKEN.fullmatch(token) or token.startswith(MARK)):
        raise ValueError("token: This is no token")
    return narrow(token, parsed), parsed.model_dump_json(exclude_none=True)
