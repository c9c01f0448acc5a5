"""Who calls: bearer tokens, looked up once and remembered for a moment."""

from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from roost.clock import Clock
from roost.core.identity import Identity, narrowed
from roost.core.narrowing import chain
from roost.core.narrowing.restrictions import narrowing_of
from roost.errors import unauthenticated
from roost.secrets import hash_token

CACHE_SECONDS = 5.0
_CACHE_ENTRIES = 10_000
_NARROWED_ENTRIES = 1000


class TokenSource(Protocol):
    """Where tokens are kept."""

    async def find(self, hashed: bytes) -> Identity | None:
        """The identity of a token by its hash; None when unknown or revoked."""


class UsageRecorder(Protocol):
    """Who wants to know what tokens are used for."""

    def add(self, token_id: int, operation: str, client: str) -> None:
        """One call that was allowed, from a client's address. Must be quick."""


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """A narrowed token whose signatures are good."""

    handle: bytes
    whole: Identity
    """Of the token that was narrowed."""
    left: Identity


class Authenticator:
    """Turns an Authorization header into an Identity.

    Answers are remembered for `CACHE_SECONDS`, while `trust_until` allows it; `forget` drops them
    at once (web/revocation.py).
    """

    def __init__(self, source: TokenSource, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._known: dict[bytes, tuple[float, Identity]] = {}
        self._narrowed: dict[bytes, _Narrowed] = {}
        self._trusted_until = 0.0
        self.generation = 0
        """How often all that was remembered has become void."""

    async def identify(self, header: str | None) -> Identity | None:
        """None without a header; raises 401 for anything that is not a valid token."""
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise unauthenticated()
        identity = await self._find(token.strip())
        if identity is None or (identity.expiry and identity.expiry <= self._clock.now()):
            raise unauthenticated()
        return identity

    def trust_until(self, moment: float) -> None:
        """Use remembered identities until a moment of `time.monotonic`."""
        self._trusted_until = moment

    def forget(self) -> None:
        # What is being looked up now ends in the old dictionary, so that it is forgotten too.
        self._known = {}
        self._narrowed = {}
        self.generation += 1

    def is_trusted(self) -> bool:
        """Whether this process would know of a token that has ended."""
        return self._trusted_until > monotonic()

    async def _find(self, token: str) -> Identity | None:
        hashed = hash_token(token)
        if not token.startswith(chain.MARK):
            return await self._lookup(hashed)
        known = self._narrowed.get(hashed)
        if known is not None and await self._lookup(known.handle) is known.whole:
            return known.left
        try:
            found = chain.read(token)
        except ValueError:
            return None
        identity = await self._lookup(found.handle)
        return None if identity is None else self._narrow(hashed, found, identity)

    def _narrow(self, hashed: bytes, found: chain.Chain, identity: Identity) -> Identity | None:
        """What is left of an identity. Signatures that were good are so for the same identity."""
        if identity.narrowing_key is None or not found.is_of(identity.narrowing_key):
            return None
        try:
            narrowing = narrowing_of(found)
        except ValueError as error:
            raise unauthenticated(f"Invalid Token: its restriction {error}"[:300]) from None
        left = narrowed(identity, narrowing)
        if len(self._narrowed) >= _NARROWED_ENTRIES:
            self._narrowed.clear()
        self._narrowed[hashed] = _Narrowed(found.handle, identity, left)
        return left

    async def _lookup(self, hashed: bytes) -> Identity | None:
        entries = self._known
        known, now = entries.get(hashed), monotonic()
        if known is not None and known[0] > now and self._trusted_until > now:
            return known[1]
        identity = await self._source.find(hashed)
        if identity is not None:
            if len(entries) >= _CACHE_ENTRIES:
                entries.clear()
            entries[hashed] = (now + CACHE_SECONDS, identity)
        return identity
