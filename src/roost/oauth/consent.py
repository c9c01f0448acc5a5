"""Consent: the user reads what an application wants, and allows or denies it."""

from datetime import timedelta

from asyncpg import ForeignKeyViolationError
from starlette.requests import Request
from starlette.responses import Response

from roost.ids import new_token
from roost.oauth import pages, queries
from roost.oauth.forms import Params, raw_query, read_form, read_query
from roost.oauth.issue import ACCESS_SECONDS, REFRESH_LIFE, issue_access_token
from roost.oauth.login import EXPIRED, path_with
from roost.oauth.request import (
    AuthorizationRequest,
    RefusedError,
    find_client,
    read_request,
    redirect_target,
)
from roost.oauth.sessions import Visitor, visitor_of
from roost.oauth.site import Site
from roost.oauth.wording import permissions
from roost.secrets import hash_token

CODE_LIFE = timedelta(minutes=10)
"""RFC 6749, 4.1.2: at most."""


class ConsentPage:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def show(self, request: Request) -> Response:
        """The page; the login page first for whom nobody knows.

        Errors too, as links to us would else lead strangers to whatever a client registered
        (RFC 9700, 4.11.2).
        """
        return await self._answer(request, None)

    async def decide(self, request: Request) -> Response:
        return await self._answer(request, await read_form(request))

    async def _answer(self, request: Request, form: Params | None) -> Response:
        params = read_query(request)
        client, redirect_uri = await find_client(self._site, params)
        visitor = await visitor_of(self._site, request)
        if visitor.user is None:
            return pages.redirect(path_with(_here(request), "/login"))
        back = redirect_target(client, redirect_uri, params)
        issuer = self._site.url(request)
        try:
            wanted = read_request(client, params)
            if form is None:
                return _ask(visitor, wanted)
            if not visitor.sent(form):
                return _ask(visitor, wanted, 403, EXPIRED)
            if form.get("decision") != "allow":
                raise RefusedError("access_denied", "The user denied the request")
            answer = await self._allow(visitor.user.user_id, wanted)
        except RefusedError as error:
            answer = {"error": error.error, "error_description": error.description}
        return pages.redirect(back.url(issuer, answer))

    async def _allow(self, user_id: int, wanted: AuthorizationRequest) -> dict[str, str]:
        try:
            if wanted.response_type == "token":
                return await self._give_token(user_id, wanted)
            return await self._give_code(user_id, wanted)
        except ForeignKeyViolationError:
            raise RefusedError("access_denied", "The client is gone") from None

    async def _give_code(self, user_id: int, wanted: AuthorizationRequest) -> dict[str, str]:
        code, now = new_token(), self._site.clock.seconds()
        expiry = now + CODE_LIFE
        async with self._site.store.transaction() as db:
            family = await queries.add_family(db, user_id, wanted, now, expiry)
            await queries.add_code(db, family, hash_token(code), wanted, expiry)
        return {"code": code}

    async def _give_token(self, user_id: int, wanted: AuthorizationRequest) -> dict[str, str]:
        """The reference's flow of public clients: no refresh token."""
        now = self._site.clock.seconds()
        expiry = now + timedelta(seconds=ACCESS_SECONDS)
        async with self._site.store.transaction() as db:
            family = await queries.add_family(db, user_id, wanted, now, expiry)
            token = await issue_access_token(db, family, wanted.client, wanted.scopes.text, now)
        return {name: str(value) for name, value in token.items()}


def _here(request: Request) -> str:
    return f"/oauth/authorize?{raw_query(request)}"


def _ask(
    visitor: Visitor, wanted: AuthorizationRequest, status: int = 200, error: str = ""
) -> Response:
    assert visitor.user is not None
    here = _here(visitor.request)
    return pages.show(
        visitor,
        "consent.html",
        status,
        leads_to=wanted.redirect_uri,
        action=here,
        leave=path_with(here, "/logout"),
        client=wanted.client,
        username=visitor.user.username,
        permissions=permissions(wanted.scopes),
        target=wanted.redirect_uri,
        lasting=wanted.response_type == "code",
        days=REFRESH_LIFE.days,
        error=error,
    )
