"""One-time codes (RFC 6238)."""

from base64 import b32encode
from datetime import datetime
from urllib.parse import parse_qs, unquote, urlsplit

import pyotp
import pytest

from roost.resources.two_factor import rules

SECRET = b32encode(b"12345678901234567890").decode()
"""Of RFC 6238, appendix B."""


@pytest.mark.parametrize(
    ("now", "code", "counter"),
    [
        ("1970-01-01T00:00:59", "287082", 1),
        ("2005-03-18T01:58:29", "081804", 37037036),
        ("2033-05-18T03:33:20", "279037", 66666666),
    ],
)
def test_codes_of_the_standard(now: str, code: str, counter: int) -> None:
    assert rules.matching_counter(SECRET, code, datetime.fromisoformat(now)) == counter


@pytest.mark.parametrize(
    ("now", "valid"),
    [
        ("1970-01-01T00:02:59", False),
        ("1970-01-01T00:03:00", True),
        ("1970-01-01T00:04:29", True),
        ("1970-01-01T00:04:30", False),
    ],
)
def test_a_code_is_good_in_its_neighbours_too(now: str, valid: bool) -> None:
    third_minute_and_a_half = pyotp.TOTP(SECRET).generate_otp(7)
    found = rules.matching_counter(SECRET, third_minute_and_a_half, datetime.fromisoformat(now))
    assert found == (7 if valid else None)


@pytest.mark.parametrize("code", ["", "28708", "2870820", "abcdef", "\uff12\uff18\uff17082", " "])
def test_what_is_no_code(code: str) -> None:
    assert rules.matching_counter(SECRET, code, datetime(1970, 1, 1, 0, 0, 59)) is None


def test_secrets_are_long_and_new() -> None:
    assert len(rules.new_secret()) == 32
    assert len(rules.new_scratch()) == 16
    assert rules.new_secret() != rules.new_secret()
    assert rules.new_scratch() != rules.new_scratch()


def test_what_an_authenticator_reads() -> None:
    uri = urlsplit(rules.otpauth_uri(SECRET, "me & you"))
    assert (uri.scheme, uri.netloc, unquote(uri.path)) == ("otpauth", "totp", "/Roost:me & you")
    assert parse_qs(uri.query) == {"secret": [SECRET], "issuer": ["Roost"]}
    assert rules.qr_image(uri.geturl()).startswith("data:image/svg+xml")
