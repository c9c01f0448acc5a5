"""Lists of the API as tables of the kit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from roost.console.api import Answer, Json
from roost.console.filters import NAMES
from roost.console.operations import page_of, short_of, title_of, url_of
from roost.console.tables import Column, columns_of
from roost.console.visit import Action, Visit
from roost.web.registry import Endpoint

_LABELS = ("label", "username", "summary", "domain", "address", "range", "name", "id")


@dataclass(slots=True)
class Row:
    record: Json
    url: str | None
    """Of its page."""
    key: str
    """What names it in the path of its page."""
    actions: Sequence[Action] = ()

    @property
    def label(self) -> str:
        """What people call it."""
        return next((str(self.record[name]) for name in _LABELS if self.record.get(name)), "Open")


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list, for the table of the kit."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    page: int
    pages: int
    results: int
    asked: Mapping[str, str]
    """What the address says of filter and order."""
    filters: Sequence[str]
    """Fields that it can be filtered by."""
    orders: Sequence[str]
    problem: str | None
    """What is wrong with it."""


def listed(visit: Visit, answer: Answer, columns: Sequence[str] = ()) -> Listed:
    """What the table of the kit needs of a list."""
    endpoint, value = visit.operations.by_name[answer.operation], answer.record
    page = visit.operations.row_page(endpoint)
    shows = visit.operations.shows
    rows = [_row(visit, endpoint, shows(page, each), each) for each in answer.rows]
    asked = visit.request.query_params
    problems = "; ".join(each["reason"] for each in answer.problems)
    return Listed(
        columns=columns_of(visit.schemas, endpoint, columns),
        rows=rows,
        page=_number(value.get("page"), 1),
        pages=_number(value.get("pages"), 1),
        results=_number(value.get("results"), len(rows)),
        asked={name: asked[name] for name in NAMES if asked.get(name)},
        filters=sorted(endpoint.filters),
        orders=sorted(name for name, column in endpoint.filters.items() if column.sortable),
        problem=problems or None,
    )


def _row(visit: Visit, endpoint: Endpoint, page: Endpoint | None, record: Json) -> Row:
    params = None if page is None else visit.operations.row_params(page, visit.params, record)
    url = None if page is None or params is None else url_of(page, params)
    url = page_of(record.get("instance_uri")) or url
    actions = []
    for each in () if page is not None else visit.operations.row_actions(endpoint):
        found = visit.operations.row_params(each, visit.params, record)
        if found is not None:
            url_there, destructive = url_of(each, found), each.method == "DELETE"
            action = Action(each.name, title_of(each), short_of(each), url_there, destructive)
            actions.append(action)
    key = "" if not params else str(list(params.values())[-1])
    return Row(record, url, key, actions)


def _number(value: JsonValue, default: int) -> int:
    return value if isinstance(value, int) else default
