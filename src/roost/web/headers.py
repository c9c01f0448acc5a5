"""Headers of every answer (reference: errors, Headers)."""

from collections.abc import Iterable

from roost.core.identity import Identity
from roost.web.rates import Window
from roost.web.registry import Endpoint
from roost.web.reply import Header

SPEC_VERSION = "4.176.0"
REVISION = "2026-11-27"
"""The newest revision of what requests and answers look like (web/revisions)."""

_SECURITY: tuple[Header, ...] = (
    (b"content-security-policy", b"default-src 'none'"),
    (b"strict-transport-security", b"max-age=31536000"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_CORS: tuple[Header, ...] = (
    (
        b"access-control-allow-headers",
        b"Authorization, Origin, X-Requested-With, Content-Type, Accept, X-Filter, "
        b"Idempotency-Key, Last-Event-ID, If-Match, If-None-Match, Roost-Revision",
    ),
    (b"access-control-allow-methods", b"HEAD, GET, OPTIONS, POST, PUT, DELETE"),
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"ETag, Roost-Revision, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Status",
    ),
)
_PRIVATE = b"private, max-age=0, s-maxage=0, no-cache, no-store"

COMMON: tuple[Header, ...] = (
    (b"content-type", b"application/json"),
    (b"roost-revision", REVISION.encode()),
    (b"vary", b"Authorization, X-Filter, Roost-Revision"),
    (b"x-spec-version", SPEC_VERSION.encode()),
    *_CORS,
    *_SECURITY,
)
UNCACHED: tuple[Header, ...] = ((b"cache-control", _PRIVATE), *COMMON)


def static_headers(endpoint: Endpoint) -> tuple[Header, ...]:
    """What all answers of an endpoint share."""
    accepted = ",".join(endpoint.scopes) or "*"
    cache = _PRIVATE
    if endpoint.cache_seconds:
        seconds = endpoint.cache_seconds
        cache = f"private, max-age={seconds}, s-maxage={seconds}".encode()
    return (
        (b"cache-control", cache),
        (b"x-accepted-oauth-scopes", accepted.encode()),
        *COMMON,
    )


def caller_headers(identity: Identity | None, window: Window | None) -> Iterable[Header]:
    """What depends on who asked: scopes, account and what is left of the rate limit."""
    if identity is None:
        yield b"x-oauth-scopes", b"unknown"
    else:
        yield b"x-oauth-scopes", identity.scopes.text.encode()
        yield b"x-customer-uuid", identity.account_uuid.encode()
    if window is not None:
        yield b"x-ratelimit-limit", b"%d" % window.limit
        yield b"x-ratelimit-remaining", b"%d" % window.left
        yield b"x-ratelimit-reset", b"%d" % window.reset
        yield b"retry-after", b"%d" % window.wait
