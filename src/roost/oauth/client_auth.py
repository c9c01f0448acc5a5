"""Which client calls the token and revocation endpoints (RFC 6749, 2.3)."""

import base64
import binascii
from hmac import compare_digest
from urllib.parse import unquote_plus

from starlette.requests import Request

from roost.oauth.forms import Params
from roost.oauth.refusal import TokenError, invalid_request
from roost.resources.oauth_clients.queries import OAuthClient, find_active
from roost.secrets import hash_token
from roost.store import Queries


async def authenticate(db: Queries, request: Request, form: Params) -> OAuthClient:
    """Raises TokenError. A public client has no secret to prove; PKCE stands in for it."""
    header = request.headers.get("authorization")
    if header is None:
        client_id, secret = form.get("client_id") or "", form.get("client_secret") or ""
    elif form.get("client_secret") is not None:
        raise invalid_request("The client must authenticate in one way only")
    else:
        client_id, secret = _basic(header)
        if (form.get("client_id") or client_id) != client_id:
            raise invalid_request("client_id differs from the Authorization header")
    client = await find_active(db, client_id)
    expected = client.secret_hash if client else b""
    proven = compare_digest(hash_token(secret), expected)
    if client is None or not (proven or client.public):
        raise _unknown(header is not None)
    return client


def _basic(header: str) -> tuple[str, str]:
    """Name and secret are form-encoded before they are joined (RFC 6749, 2.3.1)."""
    scheme, _, encoded = header.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise _unknown(True)
        name, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise _unknown(True) from None
    if "\0" in unquote_plus(name):
        raise _unknown(True)
    return unquote_plus(name), unquote_plus(secret)


def _unknown(by_header: bool) -> TokenError:
    headers = {"WWW-Authenticate": 'Basic realm="roost"'} if by_header else {}
    return TokenError("invalid_client", "Client authentication failed", 401, headers)
