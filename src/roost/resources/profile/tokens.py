"""Personal access tokens: made once, kept as a hash, looked up by it."""

from datetime import datetime

from roost.clock import Clock
from roost.ids import new_token
from roost.resources.profile import queries
from roost.secrets import hash_token
from roost.store import Queries, Store
from roost.web.auth import Identity
from roost.web.scopes import Scopes

PREFIX_LENGTH = 16
"""Characters of a token that records show after its creation."""


class StoredTokens:
    """The TokenSource of the HTTP edge."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, hashed: bytes) -> Identity | None:
        return await queries.find_identity(self._store, hashed)


async def issue_token(
    db: Queries,
    clock: Clock,
    user_id: int,
    label: str,
    scopes: Scopes,
    expiry: datetime | None = None,
) -> str:
    """The token's text, which can't be had again."""
    token = new_token()
    await queries.create_token(
        db,
        user_id,
        label,
        hash_token(token),
        token[:PREFIX_LENGTH],
        scopes,
        clock.seconds(),
        expiry,
    )
    return token
