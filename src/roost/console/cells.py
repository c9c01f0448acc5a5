"""Values of the API as HTML for people, and rows of tables of them.

Rows are made here, as a template takes several times as long for each cell of a long list.
"""

import re
from collections.abc import Callable, Sequence
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
    shown = [(each.name, f'<td data-title="{escape(each.title)}">') for each in listed.columns]
    html = "".join(_row(row, shown, buttons, is_chosen) for row in listed.rows)
    return Markup(html)  # noqa: S704 - it is escaped


def escape(text: str) -> str:
    """The same as the library's, which looks for each character that most texts have not."""
    return _escape(text) if _SPECIAL.search(text) else text


def _row(row: Row, shown: Sequence[tuple[str, str]], buttons: Buttons, is_chosen: bool) -> str:
    record, cells = row.record, list[str]()
    if is_chosen:
        key, label = escape(row.key), escape(row.label)
        cells.append(
            f'<td><input type="checkbox" name="row" value="{key}" aria-label="Choose {label}"></td>'
        )
    for n, (name, opening) in enumerate(shown):
        value = record[name]
        if n == 0 and row.url:
            text = _html(row.label if value is None or value == "" else value)
            text = f'<a href="{escape(row.url)}">{text}</a>'
        elif name == "status" and isinstance(value, str):
            text = _status(value)
        else:
            text = _html(value)
        cells.append(f"{opening}{text}</td>")
    if row.actions:
        cells.append(f'<td class="actions">{buttons(row.actions)}</td>')
    return f"<tr>{''.join(cells)}</tr>\n"


def _status(value: str) -> str:
    return f'<span class="status {escape(value)}">{escape(words(value))}</span>'


def _html(value: object) -> str:
    if isinstance(value, str):
        if not value:
            return _NONE
        if len(value) == _TIME_LENGTH and _TIME.fullmatch(value):
            said = value.replace("T", " ")
            return f'<time datetime="{value}Z" title="{said} UTC">{said} UTC</time>'
        return escape(value)
    if value is None or value == []:
        return _NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(not isinstance(each, dict | list) for each in value):
        return escape(", ".join(map(str, value)))
    return escape(str(value))
