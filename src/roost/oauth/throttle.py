"""Limits on wrong passwords and codes, for each user name and each address."""

from datetime import timedelta

from roost.oauth import session_queries as queries
from roost.oauth.site import Site
from roost.secrets import hash_token
from roost.web.connections import origin

WINDOW = timedelta(minutes=15)
MAX_PER_USER = 10
MAX_PER_ADDRESS = 50


async def begin_attempt(site: Site, username: str, ip: str) -> int | None:
    """Count an attempt before it is judged, so that many at once can't outrun the limit.

    None when there were too many failures; whether the user exists makes no difference.
    """
    now, name, caller = site.clock.now(), hash_token(username), origin(ip)
    attempt = await queries.add_attempt(site.store, name, caller, now)
    since = now - WINDOW
    per_user, per_address = await queries.count_attempts(site.store, name, caller, since)
    if per_user <= MAX_PER_USER and per_address <= MAX_PER_ADDRESS:
        return attempt
    await queries.drop_attempt(site.store, attempt)
    return None


async def forgive(site: Site, username: str, ip: str) -> None:
    """After a login: the failures before it were the user's own."""
    await queries.drop_attempts(site.store, hash_token(username), origin(ip))
