"""Rules of webhooks: how messages are signed, and when they are tried again."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import timedelta
from urllib.parse import urlsplit

GIVEN_UP_AFTER = timedelta(hours=24)
"""Of failures alone."""
OVERLAP = timedelta(hours=24)
"""In which messages are signed with the former secret, too."""
KEPT = timedelta(days=30)
"""How long deliveries are shown."""
PREFIX = "whsec_"
_SECRET_BYTES = 32
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 3600.0
_DOUBLINGS = 10


def new_secret() -> str:
    """In the form of Standard Webhooks."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def sign(key: str, message_id: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 of id, time and body (Standard Webhooks 1.0, symmetric signatures)."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.digest(base64.b64decode(key.removeprefix(PREFIX)), signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def headers(keys: Iterable[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """What a receiver checks; of several signatures one has to fit."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Roost",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(key, message_id, timestamp, body) for key in keys),
    }


def pause(attempt: int, chance: float) -> timedelta:
    """Before the next attempt: 5 seconds, then twice as long each time, up to an hour; `chance`, 0
    to 1, shortens it by up to a quarter, so that what failed together does not come together."""
    seconds = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt - 1, _DOUBLINGS))
    return timedelta(seconds=seconds * (1 - chance / 4))


def url_problem(url: str) -> str | None:
    """What is wrong with the form of a URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "Must be a URL"
    if parts.scheme not in ("https", "http") or not parts.hostname or port == 0:
        return "Must be a URL that begins with https://"
    if parts.username is not None or parts.password is not None or "#" in url:
        return "Must have neither a user nor a fragment"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "Must be printable ASCII"
    return None
