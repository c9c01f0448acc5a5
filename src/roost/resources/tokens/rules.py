"""The rules of personal access tokens as pure functions."""

from collections.abc import Iterator
from datetime import datetime

from roost.core.identity import Identity
from roost.core.scopes import Scopes
from roost.errors import Problem
from roost.web.fields import refuse

MAX_TOKENS = 100
"""Personal access tokens of one user that are neither revoked nor over."""

SCOPES_REASON = "Must be *, or scopes such as computes:read_only with spaces or commas between them"


def known_scopes(text: str) -> str:
    """Scopes as records show them: with single spaces between them. Clients send "" for none."""
    if not text:
        return text
    try:
        return Scopes.parse(text).text
    except ValueError:
        raise refuse(SCOPES_REASON) from None


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
