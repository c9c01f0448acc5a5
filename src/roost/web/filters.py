"""The X-Filter header: which rows of a list, in which order (reference, X-Filter)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import orjson

from roost.errors import ApiError, invalid
from roost.store.conditions import AllOf, AnyOf, Column, Compare, Condition, Operator, Value
from roost.store.paging import Selection

FIELD = "X-Filter"
MAX_DEPTH = 16
MAX_COMPARISONS = 256
MAX_TEXT = 255
"""Characters that `+contains` looks for."""

Columns = Mapping[str, Column]
Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None

_OPERATORS: dict[str, Operator] = {
    "+gt": ">",
    "+gte": ">=",
    "+lt": "<",
    "+lte": "<=",
    "+neq": "<>",
    "+contains": "contains",
}
_TOP_LEVEL = frozenset({"+order_by", "+order", "+limit"})
_ORDERED = frozenset({"int", "number", "time"})
_TEXTUAL = frozenset({"text", "id", "texts"})


def parse_filter(header: str | None, columns: Columns) -> Selection:
    """The selection that a header asks for; ApiError 400 on field X-Filter."""
    if not header:
        return Selection()
    try:
        value: Json = orjson.loads(header)
    except ValueError:
        raise invalid("Filter not valid JSON", FIELD) from None
    if not isinstance(value, dict):
        raise invalid("Filter not valid JSON", FIELD)
    order_by, descending = _order(value, columns)
    rows = {key: part for key, part in value.items() if key not in _TOP_LEVEL}
    condition = _Parser(columns).filter(rows, 1) if rows else None
    return Selection(condition, order_by, descending, _limit(value))


def _order(value: dict[str, Json], columns: Columns) -> tuple[Column | None, bool | None]:
    """`+order` alone is that of the list's own order."""
    order = value.get("+order", "asc")
    if order not in ("asc", "desc"):
        raise invalid("+order must be one of asc, desc", FIELD)
    if "+order_by" not in value:
        return None, order == "desc" if "+order" in value else None
    key = value["+order_by"]
    if not isinstance(key, str):
        raise invalid("+order_by must be the name of a field", FIELD)
    column = _column(key, columns)
    if not column.sortable or column.type == "texts":
        raise invalid(f"Cannot order by {key}", FIELD)
    return column, order == "desc"


def _limit(value: dict[str, Json]) -> int | None:
    """Only the Python client sends it; it caps the results."""
    if "+limit" not in value:
        return None
    limit = _integer(value["+limit"])
    if limit is None or limit < 1:
        raise invalid("+limit must be a positive integer", FIELD)
    return min(limit, 2**31)


def _column(key: str, columns: Columns) -> Column:
    if key not in columns:
        raise invalid(f"Cannot filter on {key}", FIELD)
    return columns[key]


class _Parser:
    """Reads one filter and counts its comparisons."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._comparisons = 0

    def filter(self, value: Json, depth: int) -> Condition:
        """A filter object: all its members hold."""
        if not isinstance(value, dict):
            raise invalid("A filter must be an object", FIELD)
        return AllOf(tuple(self._member(key, part, depth) for key, part in value.items()))

    def _member(self, key: str, value: Json, depth: int) -> Condition:
        match key:
            case "+and":
                return AllOf(tuple(self.filter(p, depth + 1) for p in _parts(key, value, depth)))
            case "+or":
                return AnyOf(tuple(self.filter(p, depth + 1) for p in _parts(key, value, depth)))
            case _ if key.startswith("+"):
                raise invalid(f"{key} is not valid here", FIELD)
        return self._field(key, _column(key, self._columns), value, depth)

    def _field(self, key: str, column: Column, value: Json, depth: int) -> Condition:
        """What a field is compared with: a scalar, or an object of operators that all hold."""
        if not isinstance(value, dict):
            return self._compare(key, column, "=", value)
        if not value:
            raise invalid(f"{key} needs a value or an operator", FIELD)
        return AllOf(
            tuple(self._operator(key, column, name, part, depth) for name, part in value.items())
        )

    def _operator(self, key: str, column: Column, name: str, value: Json, depth: int) -> Condition:
        if name == "+or":
            parts = _parts(name, value, depth)
            return AnyOf(tuple(self._field(key, column, part, depth + 1) for part in parts))
        if name not in _OPERATORS:
            raise invalid(f"{name} is not valid here", FIELD)
        return self._compare(key, column, _OPERATORS[name], value)

    def _compare(self, key: str, column: Column, operator: Operator, value: Json) -> Compare:
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            raise invalid(f"Filters are limited to {MAX_COMPARISONS} comparisons", FIELD)
        if operator in ("=", "<>"):
            wanted = None if value is None else _operand(key, column, value)
            return Compare(column, operator, wanted)
        allowed = _TEXTUAL if operator == "contains" else _ORDERED
        if column.type not in allowed:
            raise invalid(f"{key} cannot be compared that way", FIELD)
        if operator == "contains":
            text = _text(key, value)
            if len(text) > MAX_TEXT:
                raise invalid(f"+contains is limited to {MAX_TEXT} characters", FIELD)
            return Compare(column, operator, text)
        return Compare(column, operator, _operand(key, column, value))


def _parts(name: str, value: Json, depth: int) -> list[Json]:
    if not isinstance(value, list):
        raise invalid(f"{name} must be an array", FIELD)
    if depth >= MAX_DEPTH:
        raise invalid(f"Filters are limited to {MAX_DEPTH} levels", FIELD)
    return value


def _operand(key: str, column: Column, value: Json) -> Value:
    match column.type:
        case "int":
            return _checked(_integer(value), key, "an integer")
        case "number":
            return _checked(_number(value), key, "a number")
        case "bool":
            return _checked(value if isinstance(value, bool) else None, key, "a boolean")
        case "time":
            return _checked(_time(value), key, "a date-time")
        case "id" if (number := _integer(value)) is not None:
            return str(number)
        case _:
            return _text(key, value)


def _checked(value: Value, key: str, kind: str) -> Value:
    if value is None:
        raise _mismatch(key, kind)
    return value


def _mismatch(key: str, kind: str) -> ApiError:
    return invalid(f"{key} must be compared with {kind}", FIELD)


def _integer(value: Json) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A JSON integer above 64 bits arrives as a float.
    return int(value) if value == value // 1 else None


def _number(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Decimal(str(value))


def _time(value: Json) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None


def _text(key: str, value: Json) -> str:
    if not isinstance(value, str):
        raise _mismatch(key, "a string")
    if "\0" in value:
        raise invalid(f"{key} must be compared with a string without NUL", FIELD)
    return value
