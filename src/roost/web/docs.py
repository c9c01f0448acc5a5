"""The documentation page: every operation, by area, as plain HTML without scripts."""

import html
from collections.abc import Iterable
from itertools import groupby

from roost.web.docs_fields import render_fields
from roost.web.registry import Endpoint, Page, Registry
from roost.web.routing import plain_path

DOCS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --mute: #777; --get: #1a7f37; --post: #0969da;
  --put: #9a6700; --delete: #cf222e; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
nav a { display: inline-block; margin-right: 1rem; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; padding-bottom: .25rem; }
article { border-bottom: 1px solid var(--line); padding: .75rem 0; }
h3 { font-size: 1rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; }
.method { color: #fff; border-radius: .25rem; padding: .1rem .4rem; margin-right: .5rem;
  font-size: .8rem; }
.GET { background: var(--get); } .POST { background: var(--post); }
.PUT { background: var(--put); } .DELETE { background: var(--delete); }
details { overflow-x: auto; } summary { cursor: pointer; }
table { border-collapse: collapse; font-size: .9rem; margin: .5rem 0; }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left;
  vertical-align: top; }
pre { background: var(--line); border-radius: .25rem; overflow-x: auto; padding: .5rem; }
p { margin: .15rem 0; } .facts { color: var(--mute); font-size: .9rem; overflow-wrap: anywhere; }
"""


def render_docs(registry: Registry) -> str:
    """One HTML page; the machine-readable document is `/v4/openapi.json`."""
    endpoints = sorted(registry, key=lambda e: (e.area, e.path, e.method))
    areas = {area: list(group) for area, group in groupby(endpoints, key=lambda e: e.area)}
    links = "".join(f'<a href="#{area}">{_title(area)}</a>' for area in areas)
    sections = "".join(_section(area, group) for area, group in areas.items())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Roost API</title><style>{_STYLE}</style></head><body><h1>Roost API</h1>"
        "<p>Send a token as <code>Authorization: Bearer …</code>. The same in machine-readable "
        'form: <a href="/v4/openapi.json">OpenAPI 3.1</a>.</p>'
        f'<nav aria-label="Areas">{links}</nav><main>{sections}</main></body></html>'
    )


def _title(area: str) -> str:
    return html.escape(area.replace("_", " ").capitalize())


def _section(area: str, endpoints: Iterable[Endpoint]) -> str:
    articles = "".join(map(_article, endpoints))
    return f'<section><h2 id="{area}">{_title(area)}</h2>{articles}</section>'


def _article(endpoint: Endpoint) -> str:
    path = html.escape("/v4" + plain_path(endpoint.path))
    facts = " · ".join(_facts(endpoint))
    fields = render_fields(endpoint.body) if endpoint.body is not None else ""
    return (
        f'<article id="{endpoint.name}"><h3><span class="method {endpoint.method}">'
        f"{endpoint.method}</span><code>{path}</code></h3><p>{html.escape(endpoint.summary)}</p>"
        f'<p class="facts">{html.escape(facts)}</p>{fields}</article>'
    )


def _facts(endpoint: Endpoint) -> Iterable[str]:
    yield "no token needed" if endpoint.public else "needs a token"
    if endpoint.scopes:
        yield "scope " + ", ".join(endpoint.scopes)
    if endpoint.query:
        yield "query " + ", ".join(endpoint.query)
    if isinstance(endpoint.returns, Page) and endpoint.filters:
        yield "filter by " + ", ".join(endpoint.filters)
    if endpoint.events:
        yield "events " + ", ".join(endpoint.events)
