"""Values of the API as HTML for people, and rows of tables of them.

Rows are made here, as a template takes several times as long for each cell of a long list.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape as _escape

from markupsafe import Markup

from roost.console.listed import Listed, Row
from roost.console.visit import Action
from roost.console.words import words

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
_TIME_LENGTH = len("2026-01-01T00:00:00")
_SPECIAL = re.compile("[&<>\"']")
_NONE = '<span class="none">\N{EN DASH}</span>'

Buttons = Callable[[Sequence[Action]], str]


def cell(value: object) -> Markup:
    """One value. All that is not ours is escaped."""
    return Markup(_html(value))  # noqa: S704 - it is escaped


def status(value: object) -> Markup:
    """A state, with the mark of its kind."""
    return Markup(_status(str(value)))  # noqa: S704 - it is escaped


def rows_of(listed: Listed, buttons: Buttons, is_chosen: bool) -> Markup:
    """The body of a list's table; `buttons` are the kit's, and of rows that have no page.

    With `is_chosen`, each row can be chosen.
    """
    rows, shown = listed.rows, list[tuple[str, Iterable[str]]]()
    if is_chosen:
        shown.append(("<td>", map(_choice, rows)))
    for n, column in enumerate(listed.columns):
        values = [row.record[column.name] for row in rows]
        leads = not n and any(row.url for row in rows)
        cells = map(_first, rows, values) if leads else _column(column.name, values)
        shown.append((f'<td data-title="{escape(column.title)}">', cells))
    if any(row.actions for row in rows):
        shown.append(('<td class="actions">', (buttons(row.actions) for row in rows)))
    shape = "".join(opening.replace("%", "%%") + "%s</td>" for opening, _ in shown)
    made = map(f"<tr>{shape}</tr>\n".__mod__, zip(*(cells for _, cells in shown), strict=True))
    return Markup("".join(made))  # noqa: S704 - it is escaped


def escape(text: str) -> str:
    """The same as the library's, which looks for each character that most texts have not."""
    return _escape(text) if _SPECIAL.search(text) else text


def _choice(row: Row) -> str:
    key, label = escape(row.key), escape(row.label)
    return f'<input type="checkbox" name="row" value="{key}" aria-label="Choose {label}">'


def _first(row: Row, value: object) -> str:
    if not row.url:
        return _html(value)
    text = _html(row.label if value is None or value == "" else value)
    return f'<a href="{escape(row.url)}">{text}</a>'


def _column(name: str, values: Sequence[object]) -> Iterable[str]:
    """Plans, regions, images and times are the same in many rows."""
    made, known = _status if name == "status" else _text, dict[str, str]()
    cells = list[str]()
    for value in values:
        if not isinstance(value, str):
            cells.append(_html(value))
        elif (cell := known.get(value)) is not None:
            cells.append(cell)
        else:
            cells.append(known.setdefault(value, made(value)))
    return cells


def _status(value: str) -> str:
    return f'<span class="status {escape(value)}">{escape(words(value))}</span>'


def _text(value: str) -> str:
    if not value:
        return _NONE
    if len(value) == _TIME_LENGTH and _TIME.fullmatch(value):
        said = value.replace("T", " ")
        return f'<time datetime="{value}Z" title="{said} UTC">{said} UTC</time>'
    return escape(value)


def _html(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None or value == []:
        return _NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        try:
            return escape(", ".join(value))
        except TypeError:
            nested = any(isinstance(each, dict | list) for each in value)
            return escape(str(value) if nested else ", ".join(map(str, value)))
    return escape(str(value))
