"""The two cookies: a session, and a device that needs no second factor for a while."""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from roost.oauth.site import Site

SESSION = "roost_session"
DEVICE = "roost_device"


def read_cookie(site: Site, request: Request, name: str) -> str | None:
    return request.cookies.get(_full_name(site, request, name))


def set_cookie(
    site: Site,
    request: Request,
    response: Response,
    name: str,
    value: str,
    kept: timedelta | None = None,
) -> None:
    """`kept` None: until the browser is closed."""
    response.set_cookie(
        _full_name(site, request, name),
        value,
        max_age=None if kept is None else int(kept.total_seconds()),
        path="/",
        secure=site.is_secure(request),
        httponly=True,
        samesite="lax",
    )


def _full_name(site: Site, request: Request, name: str) -> str:
    """Browsers let nobody but this very host set a cookie of the prefix `__Host-`, over https."""
    return f"__Host-{name}" if site.is_secure(request) else name
