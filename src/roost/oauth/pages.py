"""Pages for people: plain HTML without scripts, each with the headers that keep it safe."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from roost.oauth.sessions import Visitor

if TYPE_CHECKING:
    from jinja2 import Environment

_STYLE = Markup((files("roost.oauth") / "templates/style.css").read_text())  # noqa: S704 - our own
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

SAFETY: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@cache
def _templates() -> "Environment":
    # Slow to load: no start waits for it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("roost.oauth"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def show(
    visitor: Visitor,
    template: str,
    status: int = 200,
    leads_to: str | None = None,
    **values: object,
) -> Response:
    """A page; `leads_to` is the URL of a client to which its form may end up redirecting."""
    html = _templates().get_template(template).render(style=_STYLE, csrf=visitor.csrf, **values)
    response = HTMLResponse(html, status, headers={**SAFETY, **_policy(leads_to)})
    visitor.remember(response)
    return response


def redirect(url: str) -> Response:
    """With GET, whatever the method was; `url` goes out as it is."""
    return Response(status_code=303, headers={**SAFETY, "Location": url})


def _policy(leads_to: str | None) -> dict[str, str]:
    targets = "'self'" if leads_to is None else f"'self' {_form_target(leads_to)}"
    policy = (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src 'self'; "
        f"form-action {targets}; frame-ancestors 'none'; base-uri 'none'"
    )
    return {"Content-Security-Policy": policy}


def _form_target(url: str) -> str:
    """Browsers hold redirects after a form to its policy too; it can't name IPv6 addresses."""
    parts = urlsplit(url)
    named = parts.scheme in ("http", "https") and "[" not in parts.netloc
    return f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"
