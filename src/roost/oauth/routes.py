"""Where the pages and endpoints are."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from roost.oauth import pages
from roost.oauth.consent import ConsentPage
from roost.oauth.endpoints import TokenEndpoints
from roost.oauth.first_link import PATH as FIRST_LOGIN
from roost.oauth.first_login import FirstLoginPage
from roost.oauth.forms import BadFormError
from roost.oauth.login import LoginPages
from roost.oauth.request import UnknownClientError
from roost.oauth.sessions import visitor_of
from roost.oauth.site import Site

_Handler = Callable[[Request], Awaitable[Response]]

METADATA = "/.well-known/oauth-authorization-server"


def build_routes(site: Site) -> list[Route]:
    login, consent, tokens = LoginPages(site), ConsentPage(site), TokenEndpoints(site)
    first = FirstLoginPage(site, login)
    return [
        _page(site, "GET", "/login", login.show),
        _page(site, "POST", "/login", login.check_password),
        _page(site, "GET", "/login/second-factor", login.ask_second_factor),
        _page(site, "POST", "/login/second-factor", login.check_second_factor),
        _page(site, "POST", "/logout", login.leave),
        _page(site, "GET", FIRST_LOGIN, first.show),
        _page(site, "POST", FIRST_LOGIN, first.choose),
        _page(site, "GET", "/oauth/authorize", consent.show),
        _page(site, "POST", "/oauth/authorize", consent.decide),
        Route("/oauth/token", tokens.token, methods=["POST"]),
        Route("/oauth/revoke", tokens.revoke, methods=["POST"]),
        Route(METADATA, tokens.describe, methods=["GET"]),
    ]


def _page(site: Site, method: str, path: str, handler: _Handler) -> Route:
    async def answer(request: Request) -> Response:
        """What can't be answered elsewhere is told to the person, who is not sent anywhere."""
        try:
            return await handler(request)
        except UnknownClientError:
            template = "unknown_client.html"
        except BadFormError:
            template = "bad_form.html"
        return pages.show(await visitor_of(site, request), template, 400)

    return Route(path, answer, methods=[method])
