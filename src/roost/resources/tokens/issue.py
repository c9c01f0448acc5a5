"""Tokens of all kinds: made once, kept as a hash, looked up by it."""

from dataclasses import dataclass
from datetime import datetime

from roost.clock import Clock
from roost.core.identity import Identity, TokenKind
from roost.core.scopes import Scopes
from roost.ids import new_token
from roost.resources.tokens import queries
from roost.secrets import hash_token
from roost.store import Queries, Store

PREFIX_LENGTH = 16
"""Characters of a token that records show after its creation."""


class StoredTokens:
    """The TokenSource of the HTTP edge."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, hashed: bytes) -> Identity | None:
        return await queries.find_identity(self._store, hashed)


@dataclass(frozen=True, slots=True)
class NewToken:
    id: int
    text: str
    """Can't be had again."""


async def make_token(
    db: Queries,
    clock: Clock,
    user_id: int,
    label: str,
    scopes: Scopes,
    expiry: datetime | None,
    kind: TokenKind = "personal",
    app_id: int | None = None,
) -> NewToken:
    """A token of a user, for the authorised app `app_id` when it is one of OAuth."""
    text = new_token()
    token_id = await queries.create_token(
        db,
        user_id,
        label,
        hash_token(text),
        text[:PREFIX_LENGTH],
        scopes,
        clock.seconds(),
        expiry,
        kind,
        app_id,
    )
    return NewToken(token_id, text)


async def issue_token(
    db: Queries,
    clock: Clock,
    user_id: int,
    label: str,
    scopes: Scopes,
    expiry: datetime | None = None,
) -> str:
    """The text of a personal access token, which can't be had again."""
    return (await make_token(db, clock, user_id, label, scopes, expiry)).text
