"""Conditions over the columns of a list, rendered to parameterised SQL."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

ColumnType = Literal["int", "number", "text", "bool", "time", "id", "texts"]
"""`id` is text that may also be asked for as an integer; `texts` is a list of text."""

Value = int | Decimal | str | bool | datetime | None

Operator = Literal["=", "<>", "<", "<=", ">", ">=", "contains"]

_MAX_BIGINT = 2**63 - 1

SEARCHED = 1024
"""Characters of a text, from its beginning, that `contains` looks at: a search in long texts would
take as long as all the caller's texts together."""

_CASTS: dict[ColumnType, str] = {
    "int": "bigint",
    "number": "numeric",
    "text": "text",
    "bool": "boolean",
    "time": "timestamp",
    "id": "text",
    "texts": "text",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A field that a caller may filter by; `sql` is its value in the listing's source."""

    sql: str
    type: ColumnType
    sortable: bool = True
    means: tuple[str, str] | None = None
    """A value that no row has, and the SQL of what a caller means who asks for it."""
    folds: bool = False
    """Whether it is ordered as people do who chose it, big and small letters alike. An index that
    is to serve the order is on `order`."""

    @property
    def order(self) -> str:
        """SQL by which rows are ordered, the same on every server."""
        return f'(lower({self.sql}) collate "C")' if self.folds else self.sql


@dataclass(frozen=True, slots=True)
class Compare:
    """A column against a value of its type; a list-valued column equals each of its members."""

    column: Column
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class AllOf:
    """True when every part is."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True when one part is; false without parts."""

    parts: tuple["Condition", ...]


Condition = Compare | AllOf | AnyOf


def columns_of(condition: Condition | None) -> list[Column]:
    """The columns that a condition compares."""
    match condition:
        case Compare(column):
            return [column]
        case AllOf(parts) | AnyOf(parts):
            return [column for part in parts for column in columns_of(part)]
        case None:
            return []


def render(condition: Condition, arguments: list[object]) -> str:
    """The condition as SQL; its values are appended to the statement's `arguments`."""
    match condition:
        case AllOf(parts):
            return _join(" and ", parts, arguments) or "true"
        case AnyOf(parts):
            return _join(" or ", parts, arguments) or "false"
        case Compare(column, operator, None):
            return f"{column.sql} is {'not ' if operator == '<>' else ''}null"
        case Compare(Column(means=(name, meant)), "=" | "<>" as operator, value) if value == name:
            return f"({meant})" if operator == "=" else f"({meant}) is not true"
        case Compare(Column(type="texts")):
            return _compare_members(condition, arguments)
        case Compare(column, "contains", value):
            return _contains(column.sql, value, arguments)
        case Compare(column, "<>", value):
            return f"{column.sql} is distinct from {_bind(column.type, value, arguments)}"
        case Compare(column, operator, value):
            return f"{column.sql} {operator} {_bind(column.type, value, arguments)}"


def _join(word: str, parts: tuple[Condition, ...], arguments: list[object]) -> str:
    rendered = word.join(render(part, arguments) for part in parts)
    return f"({rendered})" if len(parts) > 1 else rendered


def _compare_members(condition: Compare, arguments: list[object]) -> str:
    sql = condition.column.sql
    if condition.operator == "contains":
        found = _contains("member", condition.value, arguments)
        return f"exists (select from unnest({sql}) as member where {found})"
    has = f"{sql} @> array[{_bind('texts', condition.value, arguments)}]"
    return has if condition.operator == "=" else f"({has}) is not true"


def _contains(sql: str, value: Value, arguments: list[object]) -> str:
    """In any case, as ILIKE has it; unlike that, a search never goes back in the text."""
    wanted = _bind("text", value, arguments)
    return f"strpos(lower(left({sql}, {SEARCHED})), lower({wanted})) > 0"


def _bind(type_: ColumnType, value: Value, arguments: list[object]) -> str:
    cast = _CASTS[type_]
    if isinstance(value, int) and abs(value) > _MAX_BIGINT:
        cast = "numeric"
    arguments.append(value)
    return f"${len(arguments)}::{cast}"
