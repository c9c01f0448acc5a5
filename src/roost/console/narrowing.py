"""A form that narrows a token, of whatever account; nothing of it is kept."""

from collections.abc import Mapping

import orjson
from starlette.responses import Response

from roost.console.actions import EXPIRED
from roost.console.forms import Sent
from roost.console.pages import Page
from roost.console.reading import one, read_form
from roost.console.render import show
from roost.console.visit import Visit
from roost.web.token_texts import narrowed_text

PATH = "/narrow"
PAGE = Page(
    "/",
    "Narrow a token",
    "account/narrow.html",
    lead="Of a token this makes another one that may do less, for a job, a script or a colleague. "
    "Nothing of it is kept here, and it ends with the token that it is made of.",
)
_BEGINS = "begin"
"""The form comes from the page that shows a new token."""
_LISTED = ("operations", "tags", "networks")


async def show_narrowing(visit: Visit) -> Response:
    return _show(visit, {})


async def perform_narrowing(visit: Visit) -> Response:
    """The narrowed token, or the form with what is wrong."""
    sent = await read_form(visit.request)
    if not visit.visitor.holds(one(sent, "csrf")):
        return _show(visit, sent, 403, problem=EXPIRED)
    if _BEGINS in sent:
        return _show(visit, sent)
    try:
        restriction = orjson.dumps(restriction_of(sent))
        made, said = narrowed_text(one(sent, "token").strip(), restriction)
    except ValueError as error:
        return _show(visit, sent, 400, problem=str(error))
    return _show(visit, {}, made=made, said=said)


def restriction_of(sent: Sent) -> Mapping[str, object]:
    """As JSON has it, of what is filled in."""
    found: dict[str, object] = {
        name: words for name in _LISTED if (words := one(sent, name).replace(",", " ").split())
    }
    texts = ("label_prefix", "expires", "monthly_cost")
    found |= {name: text for name in texts if (text := one(sent, name).strip())}
    if entities := _entities(one(sent, "entities")):
        found["entities"] = entities
    if one(sent, "read_only"):
        found["read_only"] = True
    return found


def _entities(text: str) -> Mapping[str, object]:
    """Of lines such as `compute 100001 100002` and `volume *`; ValueError for other ones."""
    found: dict[str, object] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        kind, *ids = line.replace(",", " ").split()
        if kind in found:
            raise ValueError("entities: Must name each kind on one line")
        if ids == ["*"]:
            found[kind] = "*"
        elif ids and all(each.isascii() and each.isdecimal() and len(each) < 19 for each in ids):
            found[kind] = [int(each) for each in ids]
        else:
            raise ValueError("entities: Must be lines like compute 100001 or volume *")
    return found


def _show(
    visit: Visit, sent: Sent, status: int = 200, problem: str = "", made: str = "", said: str = ""
) -> Response:
    values = {name: one(sent, name) for name in sent}
    return show(visit, PAGE.template, status, values=values, problem=problem, made=made, said=said)
