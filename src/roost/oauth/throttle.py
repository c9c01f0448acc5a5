"""Limits on wrong passwords and codes that nobody can turn against somebody else.

Only failures from one address with one user name end in a refusal soon. What others do makes an
attempt slower, and does nothing to one from a device that the user trusts.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from roost.oauth import session_queries as queries
from roost.oauth.site import Site
from roost.secrets import hash_token
from roost.web.connections import origin

WINDOW = timedelta(minutes=15)
MAX_TOGETHER = 10
"""With one user name from one address; from one trusted device; codes of one user from anywhere, as
who gets there knows the password."""
SLOW_PER_USER = 10
SLOW_PER_ADDRESS = 50
MAX_PER_ADDRESS = 500
SLOW_SECONDS = 2.0

_NOWHERE = "::"


@dataclass(frozen=True, slots=True)
class Attempt:
    """As whom and from where somebody tries; the name is hashed, as passwords are typed there."""

    name: bytes
    origin: str

    @classmethod
    def password(cls, username: str, ip: str) -> "Attempt":
        return cls(hash_token(username.lower()), origin(ip))

    @classmethod
    def trusted(cls, device: str) -> "Attempt":
        """From a device by its secret, wherever it is."""
        return cls(hash_token(f"device\0{device}"), _NOWHERE)

    @classmethod
    def code(cls, username: str) -> "Attempt":
        return cls(hash_token(f"code\0{username.lower()}"), _NOWHERE)


async def begin_attempt(site: Site, attempt: Attempt) -> int | None:
    """Count an attempt before it is judged, so that many at once can't outrun the limit.

    None when there were too many failures; whether the user exists makes no difference.
    """
    now = site.clock.now()
    number = await queries.add_attempt(site.store, attempt.name, attempt.origin, now)
    since = now - WINDOW
    counts = await queries.count_attempts(site.store, attempt.name, attempt.origin, since)
    elsewhere = attempt.origin != _NOWHERE
    if counts.together > MAX_TOGETHER or (elsewhere and counts.per_address > MAX_PER_ADDRESS):
        await queries.drop_attempt(site.store, number)
        return None
    if elsewhere and (counts.per_user > SLOW_PER_USER or counts.per_address > SLOW_PER_ADDRESS):
        await pause()
    return number


async def pause() -> None:
    await asyncio.sleep(SLOW_SECONDS)


async def clear_attempts(site: Site, *attempts: Attempt) -> None:
    """After a login: the failures before it were the user's own."""
    for attempt in attempts:
        await queries.drop_attempts(site.store, attempt.name, attempt.origin)
