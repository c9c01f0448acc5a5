"""One-time codes as pure functions (RFC 6238), and the secrets that they come from."""

import secrets
from base64 import b32encode
from datetime import UTC, datetime
from hmac import compare_digest

import pyotp

ISSUER = "Roost"

_STEP = 30
"""Seconds for which a code is shown."""

_WINDOW = 1
"""Codes before and after the present one that count too, as clocks differ."""

_SCRATCH_BYTES = 10


def new_secret() -> str:
    """160 random bits as base32."""
    return pyotp.random_base32()


def new_scratch() -> str:
    """80 random bits as base32."""
    return b32encode(secrets.token_bytes(_SCRATCH_BYTES)).decode()


def otpauth_uri(secret: str, username: str) -> str:
    """What an authenticator app reads."""
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=ISSUER)


def qr_image(uri: str) -> str:
    """The URI as a picture to be scanned: a data URI of an SVG."""
    import segno  # Seldom needed: no start waits for it.

    return segno.make(uri).svg_data_uri(scale=4)


def matching_counter(secret: str, code: str, now: datetime) -> int | None:
    """The number of the 30 seconds that the code is of; None when it is not valid now."""
    totp = pyotp.TOTP(secret, interval=_STEP)
    present = int(now.replace(tzinfo=UTC).timestamp()) // _STEP
    for counter in range(present - _WINDOW, present + _WINDOW + 1):
        if compare_digest(totp.generate_otp(counter).encode(), code.encode()):
            return counter
    return None
