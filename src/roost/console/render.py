"""Pages as HTML, with the headers that keep them safe."""

import base64
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from roost.console.cells import cell, rows_of, status
from roost.console.forms import rows_in
from roost.console.listed import listed
from roost.console.navigation import NAVIGATION, section_of
from roost.console.operations import PREFIX, page_of, short_of, title_of, url_of
from roost.console.visit import Action, Visit
from roost.console.words import prose, words

if TYPE_CHECKING:
    from jinja2 import Environment

SAFETY: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def policy(request: Request) -> str:
    """Scripts, styles and pictures are files of this server; consoles are its WebSockets."""
    scheme = "wss" if request.url.scheme == "https" else "ws"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self' {scheme}://{request.url.netloc}; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


def show(visit: Visit, template: str, code: int = 200, **values: object) -> Response:
    """`visit` and what the page has read are known to the template by their names."""
    html = (
        environment()
        .get_template(template)
        .render(
            visit=visit,
            csrf=visit.visitor.csrf,
            username=visit.visitor.session.username if visit.visitor.session else "",
            here=quote(visit.request.scope["path"]),
            done=_done(visit),
            listed_of=partial(listed, visit),
            **{**visit.answers, "title": title(visit), **values},
        )
    )
    headers = {**SAFETY, "Content-Security-Policy": policy(visit.request)}
    return HTMLResponse(html, code, headers=headers)


def redirect(url: str) -> Response:
    """With GET, whatever the method was."""
    return Response(status_code=303, headers={**SAFETY, "Location": url})


def title(visit: Visit) -> str:
    """Of the page, with the label of what it is about."""
    main = visit.main
    record = {} if main is None else main.record
    text = visit.page.title
    for name in re.findall(r"\{(\w+)\}", text):
        text = text.replace(f"{{{name}}}", str(record.get(name, visit.params.get(name, ""))))
    label = record.get("label") or record.get("username") or record.get("domain")
    is_new = "{" in visit.page.title
    return text if is_new or not isinstance(label, str) else f"{label} · {text}"


def _done(visit: Visit) -> str | None:
    """What a form has done that led to this page."""
    endpoint = visit.operations.by_name.get(visit.request.query_params.get("done", ""))
    return None if endpoint is None else title_of(endpoint)


def _with_query(url: str, asked: Mapping[str, str], **values: object) -> str:
    """An address with what it was asked, and something else."""
    query = {**asked, **{key: str(value) for key, value in values.items()}}
    return f"{url}?{urlencode(query)}" if query else url


def _navigation_at(here: str) -> Markup:
    section = section_of(here, PREFIX)
    return _navigation(section, "page" if here == f"{PREFIX}{section}" else "true")


@cache
def _navigation(section: str | None, current: str) -> Markup:
    template = environment().get_template("navigation.html")
    html = template.render(navigation=NAVIGATION, section=section, current=current)
    return Markup(html)  # noqa: S704 - it is escaped


def _action(actions: Sequence[Action], operation: str) -> Action | None:
    return next((each for each in actions if each.operation == operation), None)


def _dollars(value: object) -> str:
    return f"${value:,.2f}" if isinstance(value, int | float) else "\N{EN DASH}"


def _size(megabytes: object) -> str:
    """MB for people."""
    if not isinstance(megabytes, int | float):
        return "\N{EN DASH}"
    return f"{megabytes / 1024:g} GB" if megabytes >= 1024 else f"{megabytes:g} MB"


def _bytes(value: object) -> str:
    """A size for people, in units of 1024."""
    if not isinstance(value, int):
        return "\N{EN DASH}"
    number, units = float(value), ["B", "KB", "MB", "GB", "TB"]
    while number >= 1024 and len(units) > 1:
        number, units = number / 1024, units[1:]
    return f"{number:.4g} {units[0]}"


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode(errors="replace")


def _tfa_picture(secret: str, username: str) -> str:
    """The QR code that authenticators scan, as an address."""
    import segno  # Seldom needed: no start waits for it.

    label = quote(f"Roost:{username}")
    return segno.make(f"otpauth://totp/{label}?secret={secret}&issuer=Roost").svg_data_uri(
        border=4, light="white"
    )


@cache
def environment(package: str = "roost.console") -> "Environment":
    """Templates of a package, which may use those of the console."""
    # Slow to load: no start waits for it.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("roost.console")]),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        bytes=_bytes,
        cell=cell,
        decoded=_decoded,
        dollars=_dollars,
        prose=prose,
        quoted=lambda text: quote(text, safe=""),
        shell=shlex.quote,
        size=_size,
        words=words,
    )
    templates.globals.update(
        cast(
            "Mapping[str, object]",
            {
                "PREFIX": PREFIX,
                "action": _action,
                "rows_in": rows_in,
                "rows_of": rows_of,
                "status": status,
                "url_of": url_of,
                "navigation_at": _navigation_at,
                "page_of": page_of,
                "short_of": short_of,
                "tfa_picture": _tfa_picture,
                "title_of": title_of,
                "with_query": _with_query,
            },
        )
    )
    return templates
