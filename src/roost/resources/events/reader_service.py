"""Who reads streams of events, and whether they still may."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from roost.clock import Clock
from roost.core.identity import Identity, narrowed
from roost.resources.events.stream_rules import Wanted

_SCOPES = ("events:read_only",)
_TOKENS = 200
"""Looked up at once, so that events go on in between."""


class Trust(Protocol):
    """Who knows whether what is remembered of tokens still holds."""

    @property
    def generation(self) -> int:
        """Another one after each moment at which all that was remembered became void."""

    def is_trusted(self) -> bool:
        """Whether this process would have heard of it."""


class Tokens(Protocol):
    async def identities(self, token_ids: Sequence[int]) -> dict[int, Identity]:
        """Who is behind those of them that are good."""


@dataclass(slots=True, eq=False)
class Stream:
    """One reader."""

    identity: Identity
    wanted: Wanted
    position: int
    """Up to which everything was written."""
    turn: asyncio.Lock
    """To read from the database: one of an account's streams at a time."""
    checked: int | None = None
    """The generation of trust in which the identity was found."""
    behind: bool = True
    """Whether the next ones come from the database."""
    ended: bool = False
    is_due: bool = False
    """Whether a heartbeat is to be written, unless something else is."""
    waiting: deque[tuple[int, bytes]] = field(default_factory=deque)
    """Messages by their positions."""
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self) -> None:
        self.ended = True
        self.wake.set()


@dataclass(frozen=True, slots=True)
class Readers:
    """What is known of them."""

    clock: Clock
    tokens: Tokens
    trust: Trust

    def has_expired(self, stream: Stream) -> bool:
        """Costs no query: that a token was revoked is looked at for many streams at once."""
        expiry = stream.identity.expiry
        return expiry is not None and expiry <= self.clock.now()

    async def check(self, streams: Sequence[Stream]) -> None:
        """End those whose readers may not read any more, of all that is known until now."""
        for each in streams:
            if self.has_expired(each):
                each.end()
        open_ = [each for each in streams if not each.ended]
        if not self.trust.is_trusted():
            await self._find(open_)
        while stale := [each for each in open_ if each.checked != self.trust.generation]:
            await self._find(stale)
            open_ = [each for each in open_ if not each.ended]

    async def _find(self, stale: Sequence[Stream]) -> None:
        """Their tokens anew."""
        by_token: dict[int, list[Stream]] = {}
        for stream in stale:
            by_token.setdefault(stream.identity.token_id, []).append(stream)
        ids = sorted(by_token)
        for start in range(0, len(ids), _TOKENS):
            some = ids[start : start + _TOKENS]
            generation = self.trust.generation
            good = await self.tokens.identities(some)
            for token_id in some:
                for stream in by_token[token_id]:
                    _renew(stream, good.get(token_id), generation)


def _renew(stream: Stream, identity: Identity | None, generation: int) -> None:
    """What its token allows since a generation of trust."""
    if identity is None or not identity.scopes.allow(_SCOPES):
        stream.end()
    else:
        stream.identity = narrowed(identity, stream.identity.narrowing)
        stream.checked = generation
