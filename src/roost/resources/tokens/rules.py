"""The rules of personal access tokens as pure functions."""

from collections.abc import Iterator
from datetime import UTC, datetime

from roost.core.identity import Identity
from roost.core.scopes import Scopes
from roost.errors import Problem
from roost.web.fields import refuse

MAX_TOKENS = 100
"""Personal access tokens of one user that are neither revoked nor over."""

EXPIRY_PATTERN = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
EXPIRY_REASON = "Must be a date-time such as 2030-12-31T23:59:59, in UTC"
SCOPES_REASON = "Must be *, or scopes such as computes:read_only with spaces or commas between them"


def known_scopes(text: str) -> str:
    """Scopes as records show them: with single spaces between them. Clients send "" for none."""
    if not text:
        return text
    try:
        return Scopes.parse(text).text
    except ValueError:
        raise refuse(SCOPES_REASON) from None


def real_time(text: str) -> str:
    """The time as records show it: in UTC, without zone and fractions; a date is its midnight."""
    try:
        time = datetime.fromisoformat(text)
        utc = time if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise refuse(EXPIRY_REASON) from None
    return utc.replace(tzinfo=None, microsecond=0).isoformat()


def problems_of(
    scopes: Scopes, expiry: datetime | None, used: Identity, now: datetime
) -> Iterator[Problem]:
    """What a new token must not be: wider or longer-lived than the one in use, or over already."""
    if not used.scopes.include(scopes):
        yield Problem("Must not exceed the scopes of the token that you use", "scopes")
    if expiry is not None and expiry <= now:
        yield Problem("Must be in the future", "expiry")
    if expiry is not None and used.expiry is not None and expiry > used.expiry:
        yield Problem("Must not be later than the expiry of the token that you use", "expiry")
