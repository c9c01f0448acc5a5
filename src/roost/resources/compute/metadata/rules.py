"""The metadata service without a network: tokens, and documents as lines of text."""

import hmac
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from roost.secrets import Box

MAX_TOKEN_SECONDS = 86_400
EXPIRY_REASON = f"Must be a whole number of seconds, 1-{MAX_TOKEN_SECONDS}"

_PURPOSE = b"metadata token"
_SECONDS = re.compile(r"[0-9]{1,5}", re.ASCII)
_TOKEN = re.compile(r"([0-9a-f]{8})([0-9a-f]{64})", re.ASCII)


def parse_expiry(text: str | None) -> int | None:
    """Seconds; None for what is no wish of the kind."""
    if text is None or not _SECONDS.fullmatch(text):
        return None
    seconds = int(text)
    return seconds if 1 <= seconds <= MAX_TOKEN_SECONDS else None


def make_token(box: Box, compute_id: int, now: datetime, seconds: int) -> str:
    """Nobody keeps it: it says when it ends, and whose it is shows in what only we can sign."""
    ends = int((now + timedelta(seconds=seconds)).timestamp())
    return f"{ends:08x}{_sign(box, compute_id, ends)}"


def accepts_token(box: Box, compute_id: int, now: datetime, token: str | None) -> bool:
    """Whether it is one of this guest's that has not ended."""
    match = _TOKEN.fullmatch(token or "")
    if match is None:
        return False
    ends = int(match[1], 16)
    signed = hmac.compare_digest(match[2], _sign(box, compute_id, ends))
    return signed and now.timestamp() < ends


def lines_of(document: Mapping[str, object]) -> str:
    """`key: value`, a line for each value of a list, keys in order; nothing for what is empty.

    No value can begin a line of its own.
    """
    return "".join(
        f"{key}: {' '.join(value.split())}\n" for key, value in sorted(_flat("", document))
    )


def _sign(box: Box, compute_id: int, ends: int) -> str:
    return box.mark(_PURPOSE, f"{compute_id} {ends}".encode()).hex()


def _flat(key: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case None:
            return
        case bool():
            yield key, str(value).lower()
        case Mapping():
            for name, part in value.items():
                yield from _flat(f"{key}.{name}" if key else str(name), part)
        case list():
            for part in value:
                yield from _flat(key, part)
        case _:
            yield key, str(value)
