"""Messages of the gateway, and the HMAC over time and body that shows whose they are."""

import hashlib
import hmac

KEY = "roost_payment"
"""Under which the metadata of a payment intent have the key of the charge."""

HEADER = "stripe-signature"
TOLERANCE = 300
"""Seconds that a message may be old, or early."""
_MOST_LENGTH, _MOST_PARTS = 2048, 16


def is_signed(secret: bytes, header: str, body: bytes, now: float) -> bool:
    """Whether one of the header's signatures is right; there are several while a secret changes.

    `now`: seconds since the epoch.
    """
    if len(header) > _MOST_LENGTH:
        return False
    parts = [part.strip().partition("=") for part in header.split(",", _MOST_PARTS)]
    times = [value for key, _, value in parts if key == "t"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdecimal()):
        return False
    if len(times[0]) > 12 or abs(now - int(times[0])) > TOLERANCE:
        return False
    wanted = signature(secret, times[0], body)
    return any(
        hmac.compare_digest(value.encode(), wanted.encode())
        for key, _, value in parts
        if key == "v1"
    )


def signature(secret: bytes, time: str, body: bytes) -> str:
    """In hex."""
    return hmac.new(secret, time.encode() + b"." + body, hashlib.sha256).hexdigest()
