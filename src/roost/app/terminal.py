"""Rows for a terminal and for scripts: what users wrote cannot command either."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from roost.app.table import format_table, line

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Shown: TypeAlias = Mapping[str, object]


def fields(row: "DataclassInstance") -> Shown:
    """A row by the names of its fields: the keys of `--json`."""
    return asdict(row)


def to_table(rows: Sequence[Shown], columns: Sequence[str]) -> str:
    """The columns of all rows under their names."""
    head = [column.replace("_", " ").upper() for column in columns]
    return format_table(head, ([cell(row[column]) for column in columns] for row in rows))


def to_lines(row: Shown) -> str:
    """One thing with all that belongs to it: a line for each field, indented ones for each part."""
    return "\n".join(_lines(row))


def to_json(value: object) -> str:
    """ASCII on one line; times are ISO 8601, in UTC; US dollars are text, to the cent."""
    return json.dumps(value, default=_plain)


def _lines(row: Shown) -> Iterable[str]:
    width = max(map(len, row))
    for name, value in row.items():
        label = name.replace("_", " ").ljust(width)
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
            yield label.rstrip()
            yield from (f"  {_pairs(each)}" for each in value)
        else:
            yield f"{label}  {_pairs(value) if isinstance(value, Mapping) else cell(value)}"


def _pairs(row: Shown) -> str:
    given = ((name, value) for name, value in row.items() if value is not None)
    return ", ".join(f"{name.replace('_', ' ')} {cell(value)}" for name, value in given)


def cell(value: object) -> str:
    """A value on one line."""
    if value is None or value in ("", (), []):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell, value))
    return line(str(value))


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    raise TypeError(f"{type(value).__name__} has no JSON")
