"""What a client gets tokens for: a code, or a refresh token (RFC 6749, 4.1.3 and 6).

A function that returns no tokens refuses, and what it wrote is kept: whoever shows a code or a
refresh token a second time may have stolen it, so then the whole family of tokens ends (RFC 9700,
4.14).

A family also ends when its client is not as public as it was: what was given out without PKCE
trusted in a secret that no longer protects it.
"""

import base64
import hashlib
import re
from datetime import datetime
from hmac import compare_digest
from typing import Literal

from roost.core.scopes import Scopes
from roost.oauth import queries
from roost.oauth.forms import Params
from roost.oauth.issue import REFRESH_LIFE, TokenPair, issue_pair
from roost.oauth.queries import Code, Family
from roost.oauth.refusal import TokenError, invalid_request
from roost.oauth.site import Site
from roost.resources.apps.queries import revoke_family
from roost.resources.oauth_clients.queries import OAuthClient
from roost.secrets import hash_token
from roost.store import Queries

Ended = Literal["ended"]
"""Refused, and tokens that worked until now work no longer."""

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


async def exchange_code(
    site: Site, db: Queries, client: OAuthClient, form: Params, now: datetime
) -> TokenPair | Ended | None:
    """Codes work once, for the client, redirect URI and challenge that they were made for."""
    hashed = hash_token(_required(form, "code"))
    family = await queries.lock_family_of_code(db, hashed)
    code = await queries.find_code(db, hashed)
    if family is None or code is None or family.client_id != client.id:
        return None
    if code.used or family.public != client.public:
        return "ended" if await revoke_family(db, family.id, now) else None
    if family.revoked or code.expiry <= now or not _fits(site, code, client, form):
        return None
    await queries.use_code(db, hashed)
    return await issue_pair(db, family, client, family.scopes, now)


async def refresh(
    _site: Site, db: Queries, client: OAuthClient, form: Params, now: datetime
) -> TokenPair | Ended | None:
    """A refresh token works once; the answer holds the next one."""
    hashed = hash_token(_required(form, "refresh_token"))
    family = await queries.lock_family_of_refresh_token(db, hashed)
    token = await queries.find_refresh_token(db, hashed)
    if family is None or token is None or family.client_id != client.id:
        return None
    if token.used or family.public != client.public:
        return "ended" if await revoke_family(db, family.id, now) else None
    if family.revoked or token.created + REFRESH_LIFE <= now:
        return None
    scopes = _narrowed(family, form)
    await queries.use_refresh_token(db, hashed)
    return await issue_pair(db, family, client, scopes, now)


def _required(form: Params, name: str) -> str:
    value = form.get(name)
    if value is None:
        raise invalid_request(f"{name} is required")
    return value


def _fits(site: Site, code: Code, client: OAuthClient, form: Params) -> bool:
    """Clients of the reference name no redirect URI here; whoever does must name the right one.

    A code that went to an address which is no longer the client's is void.
    """
    if site.leads_to(client, form.get("redirect_uri")) is None:
        return False
    if code.redirect_uri != client.redirect_uri:
        return False
    verifier = form.get("code_verifier")
    if code.challenge is None or verifier is None:
        return code.challenge is None and verifier is None
    return _VERIFIER.fullmatch(verifier) is not None and compare_digest(
        _challenge_of(verifier), code.challenge
    )


def _challenge_of(verifier: str) -> str:
    """S256 (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _narrowed(family: Family, form: Params) -> str:
    """The scopes that are asked for, which the user must have allowed; all by default."""
    wanted = form.get("scope") or form.get("scopes")
    if wanted is None:
        return family.scopes
    try:
        scopes = Scopes.parse(wanted)
    except ValueError:
        raise _invalid_scope() from None
    allowed = Scopes.parse(family.scopes)
    narrower = scopes.text != "*" and allowed.allow(tuple(scopes.text.split()))
    if not narrower and scopes != allowed:
        raise _invalid_scope()
    return scopes.text


def _invalid_scope() -> TokenError:
    return TokenError("invalid_scope", "The user did not allow these scopes")
