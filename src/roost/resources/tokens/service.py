"""Tokens of all kinds: made once, kept as a hash, looked up by it; and what they are used for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime
from ipaddress import ip_address

import structlog

from roost.clock import Clock
from roost.core.context import Context
from roost.core.identity import Identity, TokenKind
from roost.core.narrowing.chain import public_key
from roost.core.scopes import Scopes
from roost.errors import forbidden
from roost.ids import new_token
from roost.resources.logins.queries import record_login
from roost.resources.tokens import queries
from roost.secrets import hash_token
from roost.store import FAULTS, Queries, Store

PREFIX_LENGTH = 16
"""Characters of a token that records show after its creation."""


class StoredTokens:
    """The TokenSource of the HTTP edge."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, hashed: bytes) -> Identity | None:
        return await queries.find_identity(self._store, hashed)

    async def identities(self, token_ids: Sequence[int]) -> dict[int, Identity]:
        """Who is behind those of them that are good."""
        return await queries.identities(self._store, token_ids)


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
    made_by: int | None = None,
) -> NewToken:
    """A token of a user, for the authorised app `app_id` when it is one of OAuth.

    That of a proxy user ends with what its maker may do, a user of the parent.
    """
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
        made_by,
        public_key(text),
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


async def check_maker(context: Context) -> None:
    """403 for a proxy user in whose name a restricted user of the parent acts: a child account is
    ended by those who may end the parent."""
    if await queries.maker_is_restricted(context.db, context.identity.token_id):
        raise forbidden()


async def revoke_all(context: Context) -> None:
    """The tokens of all kinds of the account's users."""
    await queries.revoke_all(context.db, context.account_id, context.clock.seconds())
    await context.revoke()


FLUSH_SECONDS = 3.0

_REMEMBERED = 100_000
"""Uses of a day that this process knows it need not write again."""

log = structlog.get_logger()


class TokenUsage:
    """A UsageRecorder that writes each use of a token once a day, and its first use as a login."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._day = clock.now().date()
        self._known: set[tuple[int, str]] = set()
        self._new: list[tuple[int, str]] = []
        self._first: dict[int, tuple[str, datetime]] = {}

    def add(self, token_id: int, operation: str, client: str) -> None:
        """Note one call; costs a look into a set."""
        use = (token_id, operation)
        if use in self._known:
            return
        self._known.add(use)
        self._new.append(use)
        self._first.setdefault(token_id, (client, self._clock.now()))

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write what is new every few seconds, and once more at the end of the block."""
        stop = asyncio.Event()
        writing = asyncio.create_task(self._write_until(stop))
        try:
            yield
        finally:
            stop.set()
            await writing
            await self.flush()

    async def _write_until(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await self.flush()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await stop.wait()

    async def flush(self) -> None:
        """Write what is new. What can't be written is noted again when it happens again."""
        today = self._clock.now().date()
        new, self._new = self._new, []
        first, self._first = self._first, {}
        if today != self._day or len(self._known) > _REMEMBERED:
            self._day = today
            self._known.clear()
        if not new:
            return
        try:
            await self._write(new, first, today)
        except FAULTS as error:
            log.warning("token_use_not_written", error=repr(error))
            self._known.clear()

    async def _write(
        self, new: list[tuple[int, str]], first: dict[int, tuple[str, datetime]], today: date
    ) -> None:
        # Each by itself: together they would lock tokens and users, as a request may in turn.
        await queries.add_uses(self._store, sorted(new), today)
        users = await queries.touch_tokens(self._store, first, self._clock.seconds())
        for token_id, user_id in users.items():
            client, when = first[token_id]
            if (ip := _address(client)) is not None:
                await record_login(self._store, user_id, ip, "successful", when)


def _address(client: str) -> str | None:
    """None for a client that is not known by an IP address, as on a Unix socket."""
    try:
        return str(ip_address(client))
    except ValueError:
        return None
