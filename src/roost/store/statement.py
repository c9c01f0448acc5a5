"""SQL with named parameters, for statements that have too many to count."""

import re
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_NAME = re.compile(r"(?<!:):([a-z][a-z0-9_]{0,62})\b")


class Statement:
    """A parameter is written `:label`; PostgreSQL's casts (`::text`) are left alone."""

    def __init__(self, sql: str) -> None:
        numbers: dict[str, int] = {}

        def number(name: re.Match[str]) -> str:
            return f"${numbers.setdefault(name[1], len(numbers) + 1)}"

        self._sql = _NAME.sub(number, sql)
        self._names = tuple(numbers)

    def of(self, row: object = None, **values: object) -> tuple[str, *tuple[object, ...]]:
        """The statement with its parameters: of `values`, else the attributes of `row`.

        AttributeError for a name that neither has.
        """
        given = (values[name] if name in values else getattr(row, name) for name in self._names)
        return self._sql, *given


def changed(*columns: str) -> str:
    """SQL that sets columns to the parameters of their names; null leaves one as it is."""
    return ", ".join(f'"{column}" = coalesce(:{column}, "{column}")' for column in columns)


def selected(row: type["DataclassInstance"], **sql: str) -> str:
    """SQL of the columns that a dataclass names, or `sql` where a field is no column.

    ValueError for one of `sql` that is no field.
    """
    given = {name: f'{sql.pop(name)} as "{name}"' for name in _names(row) if name in sql}
    if sql:
        raise ValueError(f"{row.__name__}: {', '.join(sql)}")
    return ", ".join(given.get(name, f'"{name}"') for name in _names(row))


def inserted(row: type["DataclassInstance"], **sql: str) -> str:
    """SQL of what is inserted: a parameter for each field of a dataclass, and `sql` beside them.

    A field that `sql` makes columns of, as `created=":now"` does of `now`, is none itself.
    """
    made = {name for value in sql.values() for name in _NAME.findall(value)}
    values = {name: f":{name}" for name in _names(row) if name not in made} | sql
    columns = ", ".join(f'"{name}"' for name in values)
    return f"({columns}) values ({', '.join(values.values())})"


def _names(row: type["DataclassInstance"]) -> list[str]:
    return [each.name for each in fields(row)]
