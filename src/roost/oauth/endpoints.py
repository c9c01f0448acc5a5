"""Endpoints for programs: tokens, their revocation, and the server's description."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from roost.core.scopes import AREAS
from roost.oauth.client_auth import authenticate
from roost.oauth.forms import BadFormError, Params, read_form
from roost.oauth.grant_types import exchange_code, refresh
from roost.oauth.issue import TokenPair
from roost.oauth.queries import lock_family_of_any_token
from roost.oauth.refusal import TokenError, invalid_grant, invalid_request
from roost.oauth.site import Site
from roost.resources.apps.queries import revoke_family
from roost.secrets import hash_token

_HEADERS: Mapping[str, str] = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    "Pragma": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_GRANT_TYPES = {"authorization_code": exchange_code, "refresh_token": refresh}


class TokenEndpoints:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def token(self, request: Request) -> Response:
        return await _answer(request, self._token)

    async def revoke(self, request: Request) -> Response:
        return await _answer(request, self._revoke)

    async def describe(self, request: Request) -> Response:
        return JSONResponse(describe(self._site.url(request)), headers=dict(_HEADERS))

    async def _token(self, request: Request, form: Params) -> TokenPair:
        """Clients of the reference leave out the grant type of a code."""
        client = await authenticate(self._site.store, request, form)
        grant_type = form.get("grant_type") or "authorization_code"
        if grant_type not in _GRANT_TYPES:
            raise TokenError("unsupported_grant_type", f"One of {', '.join(_GRANT_TYPES)}")
        async with self._site.store.transaction() as db:
            now = self._site.clock.seconds()
            pair = await _GRANT_TYPES[grant_type](self._site, db, client, form, now)
        if pair == "ended":
            await self._site.revocations.settle()
        if pair is None or pair == "ended":
            raise invalid_grant()
        return pair

    async def _revoke(self, request: Request, form: Params) -> dict[str, object]:
        """Any token of a family ends all of it; one that is unknown is as good as ended."""
        client = await authenticate(self._site.store, request, form)
        token = form.get("token")
        if token is None:
            raise invalid_request("token is required")
        async with self._site.store.transaction() as db:
            family = await lock_family_of_any_token(db, hash_token(token))
            ended = (
                family is not None
                and family.client_id == client.id
                and await revoke_family(db, family.id, self._site.clock.seconds())
            )
        if ended:
            await self._site.revocations.settle()
        return {}


def describe(url: str) -> dict[str, object]:
    """RFC 8414."""
    methods = ["client_secret_post", "client_secret_basic", "none"]
    levels = ("read_only", "read_write")
    return {
        "issuer": url,
        "authorization_endpoint": f"{url}/oauth/authorize",
        "token_endpoint": f"{url}/oauth/token",
        "revocation_endpoint": f"{url}/oauth/revoke",
        "service_documentation": f"{url}/docs",
        "scopes_supported": ["*", *(f"{area}:{level}" for area in AREAS for level in levels)],
        "response_types_supported": ["code", "token"],
        "response_modes_supported": ["query", "fragment"],
        "grant_types_supported": [*_GRANT_TYPES, "implicit"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }


async def _answer(
    request: Request, handler: Callable[[Request, Params], Awaitable[Mapping[str, object]]]
) -> Response:
    try:
        form = await read_form(request)
        if form.repeated:
            raise invalid_request(f"{form.repeated[0]} was sent more than once")
        return JSONResponse(await handler(request, form), headers=dict(_HEADERS))
    except BadFormError as error:
        refusal = invalid_request(str(error))
    except TokenError as error:
        refusal = error
    body = {"error": refusal.error, "error_description": refusal.description}
    return JSONResponse(body, refusal.status, headers={**_HEADERS, **refusal.headers})
