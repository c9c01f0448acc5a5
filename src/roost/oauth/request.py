"""Reading an authorization request: who asks for what, and where the answer goes.

As long as client and redirect URI are not known to belong together, nobody is redirected
anywhere (RFC 6749, 4.1.2.1).
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from roost.core.scopes import Scopes
from roost.oauth.forms import Params
from roost.oauth.site import Site
from roost.resources.oauth_clients.queries import OAuthClient, find_active
from roost.resources.oauth_clients.rules import is_redirect_uri

ResponseType = Literal["code", "token"]

DEFAULT_SCOPES = "account:read_only"
"""Of a request that names none (RFC 6749, 3.3): who the user is, and no more."""

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


class UnknownClientError(Exception):
    """The request can't be answered to anybody but the person in front of the browser."""


class RefusedError(Exception):
    """The client gets this error at its redirect URI (RFC 6749, 4.1.2.1)."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


@dataclass(frozen=True, slots=True)
class RedirectTarget:
    """Where the browser goes with the answer."""

    redirect_uri: str
    in_fragment: bool
    state: str | None

    def url(self, issuer: str, answer: dict[str, str]) -> str:
        """With the state as it was sent, and who answers (RFC 9207)."""
        state = {} if self.state is None else {"state": self.state}
        query = urlencode({**answer, **state, "iss": issuer}, quote_via=quote)
        if self.in_fragment:
            return f"{self.redirect_uri}#{query}"
        return f"{self.redirect_uri}{'&' if '?' in self.redirect_uri else '?'}{query}"


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    client: OAuthClient
    redirect_uri: str
    response_type: ResponseType
    scopes: Scopes
    challenge: str | None
    """The S256 challenge of PKCE (RFC 7636)."""


async def find_client(site: Site, params: Params) -> tuple[OAuthClient, str]:
    """The client, and the redirect URI at which it may be answered; UnknownClientError."""
    if {"client_id", "redirect_uri"} & set(params.repeated):
        raise UnknownClientError
    client = await find_active(site.store, params.get("client_id") or "")
    if client is None or not is_redirect_uri(client.redirect_uri):
        raise UnknownClientError
    redirect_uri = site.leads_to(client, params.get("redirect_uri"))
    if redirect_uri is None:
        raise UnknownClientError
    return client, redirect_uri


def redirect_target(client: OAuthClient, redirect_uri: str, params: Params) -> RedirectTarget:
    in_fragment = params.get("response_type") == "token" and client.public
    return RedirectTarget(redirect_uri, in_fragment, params.get("state"))


def read_request(client: OAuthClient, params: Params) -> AuthorizationRequest:
    """The rest of the request; RefusedError."""
    if params.repeated:
        raise _invalid(f"{params.repeated[0]} was sent more than once")
    response_type = _response_type(client, params)
    challenge = _challenge(client, params, response_type)
    scopes = _scopes(params)
    return AuthorizationRequest(client, client.redirect_uri, response_type, scopes, challenge)


def _response_type(client: OAuthClient, params: Params) -> ResponseType:
    wanted = params.get("response_type")
    if wanted == "code":
        return "code"
    if wanted == "token":
        if client.public:
            return "token"
        raise RefusedError("unauthorized_client", "Only public clients may ask for a token")
    if wanted is None:
        raise _invalid("response_type is required")
    raise RefusedError("unsupported_response_type", "response_type must be code or token")


def _challenge(client: OAuthClient, params: Params, response_type: ResponseType) -> str | None:
    challenge, method = params.get("code_challenge"), params.get("code_challenge_method")
    if response_type == "token":
        if challenge is not None or method is not None:
            raise _invalid("code_challenge goes with response_type code")
        return None
    if challenge is None:
        if client.public or method is not None:
            raise _invalid("code_challenge is required")
        return None
    if method != "S256":
        raise _invalid("code_challenge_method must be S256")
    if not _CHALLENGE.fullmatch(challenge):
        raise _invalid("code_challenge must be 43 characters of base64url")
    return challenge


def _scopes(params: Params) -> Scopes:
    """Clients of the reference say `scopes`, the standard says `scope`; some say neither."""
    standard, plural = params.get("scope"), params.get("scopes")
    if standard is not None and plural is not None and standard != plural:
        raise _invalid("scope and scopes differ")
    try:
        return Scopes.parse(standard or plural or DEFAULT_SCOPES)
    except ValueError:
        raise RefusedError("invalid_scope", "scope must be known scopes or *") from None


def _invalid(description: str) -> RefusedError:
    return RefusedError("invalid_request", description)
