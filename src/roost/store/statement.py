"""SQL with named parameters, for statements that have too many to count."""

import re

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
