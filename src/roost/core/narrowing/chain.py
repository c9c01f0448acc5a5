"""The text of a narrowed token: links, of which each is signed with the key of the one before.

`roost1.HANDLE`, then for each link `.RESTRICTION.KEY.SIGNATURE`, and at the end `.SEED`; all but
the first word in Base64 for URLs, without padding. The handle is the token's SHA-256. A link has
the public Ed25519 key of the next one, and its signature covers all of the text before it. The
token itself is the seed of the first key, and whoever is given the text has that of the last: they
can add a link, and take none away. A server keeps the token's public key, which makes nothing.
"""

import hashlib
import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_WORD = "roost1"
MARK = f"{_WORD}."
"""What narrowed tokens begin with, and no others do."""
MAX_LENGTH = 6144
"""Characters of a narrowed token: some servers and proxies take 8 KiB of headers."""
MAX_LINKS = 16
_BYTES = 32
"""Of a handle, a seed and a key; a signature has twice as many."""


@dataclass(frozen=True, slots=True)
class Link:
    """One restriction, and the key of what comes after it, which no other link has."""

    restriction: bytes
    key: bytes
    signature: bytes
    signed: bytes


@dataclass(frozen=True, slots=True)
class Chain:
    """A narrowed token."""

    handle: bytes
    """The SHA-256 of the token that was narrowed."""
    links: tuple[Link, ...]
    seed: bytes

    def is_of(self, key: bytes) -> bool:
        """Whether it was made of the token with this public key, link by link."""
        for link in self.links:
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(link.signature, link.signed)
            except InvalidSignature:
                return False
            key = link.key
        return hmac.compare_digest(_public(self.seed), key)


def public_key(token: str) -> bytes:
    """What a server keeps of a token that is not narrowed."""
    return _public(_seed_of(token))


def add_link(token: str, restriction: bytes) -> str:
    """The token, or a narrowed one, with one more restriction.

    ValueError for a text that begins like a narrowed token and is none, and for one that would
    become too long.
    """
    if token.startswith(MARK):
        chain = read(token)
        links, seed, text = len(chain.links), chain.seed, token.rpartition(".")[0]
    else:
        handle = hashlib.sha256(token.encode()).digest()
        links, seed, text = 0, _seed_of(token), MARK + _encode(handle)
    fresh = os.urandom(_BYTES)
    text = f"{text}.{_encode(restriction)}.{_encode(_public(fresh))}"
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(text.encode())
    text = f"{text}.{_encode(signature)}.{_encode(fresh)}"
    if len(text) > MAX_LENGTH or links == MAX_LINKS:
        raise ValueError(
            f"a token can have {MAX_LINKS} restrictions and {MAX_LENGTH} characters at most"
        )
    return text


def read(text: str) -> Chain:
    """The parts of a narrowed token, whose signatures nobody has looked at yet. ValueError for
    any other text."""
    if len(text) > MAX_LENGTH:
        raise ValueError("a longer text than that of any token")
    word, *parts = text.split(".")
    count, rest = divmod(len(parts) - 2, 3)
    if word != _WORD or rest or not 1 <= count <= MAX_LINKS:
        raise ValueError("not a narrowed token")
    handle, *linked, seed = map(_decode, parts)
    links, at = [], len(word) + 1 + len(parts[0])
    for first in range(0, len(linked), 3):
        restriction, key, signature = linked[first : first + 3]
        at += len(parts[first + 1]) + len(parts[first + 2]) + 2
        links.append(Link(restriction, key, signature, text[:at].encode()))
        at += len(parts[first + 3]) + 1
    if any(len(each) != _BYTES for each in (handle, seed, *(link.key for link in links))):
        raise ValueError("not a narrowed token")
    return Chain(handle, tuple(links), seed)


def _seed_of(token: str) -> bytes:
    return hmac.digest(token.encode(), b"roost narrowed tokens", hashlib.sha256)


def _public(seed: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    """ValueError for all but the one text that stands for its bytes."""
    data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    if _encode(data) != text:
        raise ValueError("not a narrowed token")
    return data
