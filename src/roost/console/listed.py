"""Lists of the API as tables of the kit."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from roost.console.api import Answer, Json
from roost.console.operations import title_of, url_of
from roost.console.tables import Column, columns_of
from roost.console.visit import Action, Visit
from roost.web.registry import Endpoint


@dataclass(frozen=True, slots=True)
class Row:
    record: Json
    url: str | None
    """Of its page."""
    label: str
    actions: Sequence[Action] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list, for the table of the kit."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    page: int
    pages: int
    results: int
    wanted: str
    """The filter."""
    problem: str | None
    """What is wrong with it."""


def listed(visit: Visit, answer: Answer) -> Listed:
    """What the table of the kit needs of a list."""
    endpoint, value = visit.operations.by_name[answer.operation], answer.record
    page = visit.operations.row_page(endpoint)
    rows = [_row(visit, endpoint, page, each) for each in answer.rows]
    problems = "; ".join(each["reason"] for each in answer.problems)
    return Listed(
        columns=columns_of(visit.schemas, endpoint),
        rows=rows,
        page=_number(value.get("page"), 1),
        pages=_number(value.get("pages"), 1),
        results=_number(value.get("results"), len(rows)),
        wanted=visit.request.query_params.get("filter", ""),
        problem=problems or None,
    )


def _row(visit: Visit, endpoint: Endpoint, page: Endpoint | None, record: Json) -> Row:
    params = None if page is None else visit.operations.row_params(page, visit.params, record)
    url = None if page is None or params is None else url_of(page, params)
    actions = []
    for each in () if page is not None else visit.operations.row_actions(endpoint):
        found = visit.operations.row_params(each, visit.params, record)
        if found is not None:
            title, destructive = title_of(each), each.method == "DELETE"
            actions.append(Action(each.name, title, url_of(each, found), destructive))
    names = ("label", "username", "summary", "address", "range", "id", "name")
    label = next((str(record[name]) for name in names if record.get(name)), "Open")
    return Row(record, url, label, actions)


def _number(value: JsonValue, default: int) -> int:
    return value if isinstance(value, int) else default
