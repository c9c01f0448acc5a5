"""Pages that show something: lists, records and what is made by hand."""

from collections.abc import Iterable

from starlette.responses import Response

from roost.console.api import Answer
from roost.console.operations import short_of, url_of
from roost.console.render import SAFETY, redirect, show
from roost.console.visit import Visit
from roost.web.registry import Endpoint
from roost.web.routing import path_params

_DOWNLOAD = "default-src 'none'; sandbox; frame-ancestors 'none'"


async def show_page(visit: Visit) -> Response:
    await visit.read()
    main = visit.main
    if main is None:
        return show(visit, visit.page.template)
    if main.status != 400 and (refused := await refusal(visit)) is not None:
        return refused
    endpoint = visit.operations.by_name[main.operation]
    if main.body and "json" not in main.headers.get("content-type", ""):
        return _download(main)
    actions = await visit.actions(visit.operations.actions(endpoint))
    return show(
        visit,
        visit.page.template,
        endpoint=endpoint,
        actions=actions,
        tabs=_tabs(visit, endpoint),
        main=main,
        bulk=[visit.operations.by_name[name] for name in visit.page.bulk],
        query=_query_of(visit, endpoint),
        below=_page_above(visit, endpoint),
    )


def _tabs(visit: Visit, endpoint: Endpoint) -> list[tuple[str, str]]:
    """The parts of what the page is about, or is a part of."""
    whole = _whole(visit, endpoint)
    parts = visit.operations.tabs(whole)
    named = [(short_of(each), url_of(each, visit.params)) for each in parts]
    return [("Summary", url_of(whole, visit.params)), *named] if named else []


def _whole(visit: Visit, endpoint: Endpoint) -> Endpoint:
    """What the page is a part of, or itself."""
    above = visit.operations.home(endpoint)
    is_part = above is not None and path_params(above.path) == path_params(endpoint.path) != {}
    return above if above is not None and is_part else endpoint


def _query_of(visit: Visit, endpoint: Endpoint) -> list[tuple[str, str, str]]:
    """Parameters of the query, what they mean and are."""
    asked = visit.request.query_params
    return [(name, text, asked.get(name, "")) for name, text in endpoint.query.items()]


def _page_above(visit: Visit, endpoint: Endpoint) -> tuple[str, str] | None:
    """Title and address of the page that this one is below."""
    above = visit.operations.home(_whole(visit, endpoint))
    if above is None or not set(path_params(above.path)) <= set(visit.params):
        return None
    return visit.pages.title(above), url_of(above, visit.params)


async def refusal(visit: Visit) -> Response | None:
    """What is shown where what the page is about is not to be had; None where it is."""
    answer = refused_of(visit.answers.values())
    if answer is None:
        return None
    if answer.status == 401:
        return redirect("/login")
    return refuse(visit, answer.status, await _lacking(visit, answer), answer)


def refused_of(answers: Iterable[Answer]) -> Answer | None:
    """The first, where that is refused; or what came too often, which says nothing of rights."""
    for n, each in enumerate(answers):
        if each.status == 429 or (n == 0 and not each.ok):
            return each
    return None


async def _lacking(visit: Visit, answer: Answer) -> str | None:
    if answer.status not in (401, 403):
        return None
    endpoint = visit.operations.by_name[answer.operation]
    return await visit.lacks(endpoint)


def refuse(
    visit: Visit, status: int, lacking: str | None = None, answer: Answer | None = None
) -> Response:
    """A page that is not shown, and why."""
    return show(visit, "refused.html", status, lacking=lacking, status=status, main=answer)


def _download(answer: Answer) -> Response:
    """A file: never shown as a page of ours."""
    headers = {**SAFETY, "Content-Security-Policy": _DOWNLOAD}
    headers["Content-Disposition"] = answer.headers.get("content-disposition", "attachment")
    kind = answer.headers.get("content-type", "application/octet-stream")
    return Response(answer.body, media_type=kind, headers=headers)
