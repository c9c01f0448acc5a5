"""The rules of personal access tokens as pure functions."""

from collections.abc import Iterator
from datetime import datetime

from roost.errors import Problem
from roost.web.fields import refuse
from roost.web.scopes import Scopes

EXPIRY_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
EXPIRY_REASON = "Must be a date-time such as 2030-12-31T23:59:59, in UTC"
SCOPES_REASON = "Must be *, or scopes such as computes:read_only with spaces or commas between them"


def known_scopes(text: str) -> str:
    """Scopes as records show them: with single spaces between them."""
    try:
        return Scopes.parse(text).text
    except ValueError:
        raise refuse(SCOPES_REASON) from None


def real_time(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise refuse(EXPIRY_REASON) from None
    return text


def problems_of(
    scopes: Scopes, held: Scopes, expiry: datetime | None, now: datetime
) -> Iterator[Problem]:
    """What a new token must not be: wider than the one in use, or over already."""
    if not held.include(scopes):
        yield Problem("Must not exceed the scopes of the token that you use", "scopes")
    if expiry is not None and expiry <= now:
        yield Problem("Must be in the future", "expiry")
