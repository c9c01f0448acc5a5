"""Pages of the operator as HTML: in the console's words, looks and safety."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from roost.console.listed import Listed, Row
from roost.console.render import SAFETY, environment, policy
from roost.console.tables import Column
from roost.dashboard.parts import Lines, Meters, Part, Record, Table, plain


def show(request: Request, template: str, code: int = 200, **values: object) -> Response:
    html = (
        environment("roost.dashboard")
        .get_template(template)
        .render(
            here=quote(request.scope["path"]),
            menu=[page for page in request.app.state.pages if page.in_menu],
            kind_of=_kind_of,
            listed_of=_listed_of,
            plain=plain,
            **values,
        )
    )
    headers = {**SAFETY, "Content-Security-Policy": policy(request)}
    return HTMLResponse(html, code, headers=headers)


def _kind_of(part: Part) -> str:
    kinds = {Table: "table", Record: "record", Meters: "meters", Lines: "lines"}
    return kinds[type(part)]


def _listed_of(table: Table) -> Listed:
    """As the table of the console's kit takes it."""
    rows = [
        Row({name: plain(each[name]) for name in table.columns}, table.url_of(each), "")
        for each in table.rows
    ]
    return Listed(
        columns=[Column(name, "") for name in table.columns],
        rows=rows,
        page=1,
        pages=1,
        results=len(rows),
        asked={},
        filters=(),
        orders=(),
        problem=None,
    )
