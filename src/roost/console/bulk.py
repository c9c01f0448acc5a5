"""One operation with several rows of a list."""

import asyncio

from starlette.responses import Response

from roost.console.operations import url_of
from roost.console.reading import one, read_form
from roost.console.render import redirect, show
from roost.console.visit import Visit
from roost.web.registry import Endpoint
from roost.web.routing import path_params

MOST = 100
"""Rows at once."""
EXPIRED = "This page was open for too long. Go back and try again."


async def perform_bulk(visit: Visit, operation: Endpoint) -> Response:
    """Back to the list, or with what some rows were refused."""
    sent = await read_form(visit.request)
    await visit.read()
    keys = sent.get("row", ())
    (name,) = set(path_params(operation.path)) - set(visit.params)
    if not visit.visitor.holds(one(sent, "csrf")):
        return show(visit, "bulk.html", 403, operation=operation, refused=[("", EXPIRED)], count=0)
    if len(keys) > MOST:
        too_many = [("", f"At most {MOST} can be chosen at once.")]
        return show(visit, "bulk.html", 400, operation=operation, refused=too_many, count=0)
    calls = [visit.api.call(operation, {**visit.params, name: key}) for key in keys]
    answers = await asyncio.gather(*calls)
    refused = [
        (key, "; ".join(problem["reason"] for problem in answer.problems))
        for key, answer in zip(keys, answers, strict=True)
        if not answer.ok
    ]
    if refused:
        count = len(keys) - len(refused)
        return show(visit, "bulk.html", 400, operation=operation, refused=refused, count=count)
    main = visit.operations.by_name[next(iter(visit.page.reads.values())).operation]
    done = f"?done={operation.name}" if keys else ""
    return redirect(url_of(main, visit.params) + done)
