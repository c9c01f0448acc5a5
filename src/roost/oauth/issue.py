"""Making access and refresh tokens (RFC 6749, 5.1)."""

from datetime import datetime, timedelta
from typing import Literal

from typing_extensions import TypedDict

from roost.core.narrowing.chain import public_key
from roost.core.scopes import Scopes
from roost.ids import new_token
from roost.oauth import queries
from roost.oauth.queries import Family
from roost.resources.oauth_clients.queries import OAuthClient
from roost.resources.tokens.queries import create_token
from roost.resources.tokens.service import PREFIX_LENGTH
from roost.secrets import hash_token
from roost.store import Queries

ACCESS_SECONDS = 7200
"""Reference, Auth details: 2 hours."""
REFRESH_LIFE = timedelta(days=90)
"""Since its making, so a client that refreshes now and then stays in."""


class AccessToken(TypedDict):
    """Clients of the reference read `scopes`, others the standard's `scope`."""

    access_token: str
    token_type: Literal["bearer"]
    expires_in: int
    scope: str
    scopes: str


class TokenPair(AccessToken):
    refresh_token: str


async def issue_access_token(
    db: Queries, family: Family, client: OAuthClient, scopes: str, now: datetime
) -> AccessToken:
    token = new_token()
    await create_token(
        db,
        family.user_id,
        client.label,
        hash_token(token),
        token[:PREFIX_LENGTH],
        Scopes.parse(scopes),
        now,
        now + timedelta(seconds=ACCESS_SECONDS),
        "oauth",
        family.id,
        narrowing_key=public_key(token),
    )
    return {
        "access_token": token,
        "token_type": "bearer",
        "expires_in": ACCESS_SECONDS,
        "scope": scopes,
        "scopes": scopes,
    }


async def issue_pair(
    db: Queries, family: Family, client: OAuthClient, scopes: str, now: datetime
) -> TokenPair:
    """An access token and what gets the next one; the consent lasts as long as that."""
    refresh_token = new_token()
    await queries.add_refresh_token(db, family, hash_token(refresh_token), now)
    await queries.prolong(db, family.id, now + REFRESH_LIFE)
    access = await issue_access_token(db, family, client, scopes, now)
    return {**access, "refresh_token": refresh_token}
