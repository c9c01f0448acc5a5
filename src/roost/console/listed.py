"""Lists of the API as tables of the kit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from roost.console.api import Answer, Json
from roost.console.filters import NAMES
from roost.console.operations import RowPath, page_of, short_of, title_of
from roost.console.tables import Column, columns_of
from roost.console.visit import Action, Visit

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
        for name in _LABELS:
            if value := self.record.get(name):
                return str(value)
        return "Open"


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
    if page is None:
        done = [RowPath.of(each, visit.params) for each in visit.operations.row_actions(endpoint)]
        rows = [_acted_on(each, done) for each in answer.rows]
    else:
        path, shows = RowPath.of(page, visit.params), visit.operations.shows
        rows = [
            _shown(
                each,
                path if (there := shows(page, each)) is page else RowPath.of(there, visit.params),
            )
            for each in answer.rows
        ]
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


def _shown(record: Json, path: RowPath) -> Row:
    """A row with a page of its own."""
    url, key = path.to(record) or (None, "")
    return Row(record, page_of(record.get("instance_uri")) or url, key)


def _acted_on(record: Json, done: Sequence[RowPath]) -> Row:
    """A row without one: what can be done with it stands beside it."""
    actions = [
        Action(each.name, title_of(each), short_of(each), found[0], each.method == "DELETE")
        for path in done
        if (found := path.to(record)) is not None
        for each in (path.endpoint,)
    ]
    return Row(record, page_of(record.get("instance_uri")), "", actions)


def _number(value: JsonValue, default: int) -> int:
    return value if isinstance(value, int) else default
