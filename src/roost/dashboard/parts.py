"""What pages of the operator are made of, and what one is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import quote

from pydantic import JsonValue

from roost.app.terminal import Shown
from roost.errors import OperatorError
from roost.ids import MAX_ID


class AbsentError(OperatorError):
    """There is no such page, or nothing of that name."""


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    rows: Sequence[Shown]
    columns: Sequence[str]
    leads: tuple[str, str] | None = None
    """Where the first column leads: the address before what a field of the row says."""

    def url_of(self, row: Shown) -> str | None:
        if self.leads is None or row[self.leads[1]] is None:
            return None
        return self.leads[0] + quote(str(row[self.leads[1]]), safe="")


@dataclass(frozen=True, slots=True)
class Record:
    title: str
    fields: Shown


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of something is taken."""

    name: str
    taken: float
    size: float
    text: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class Meters:
    title: str
    meters: Sequence[Meter]


@dataclass(frozen=True, slots=True)
class Lines:
    """Texts of which each is one line."""

    title: str
    lines: Sequence[str]
    none: str
    """What is said where there is none."""


Part = Table | Record | Meters | Lines


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address says."""

    params: Mapping[str, str]
    query: Mapping[str, str]

    def number(self, name: str) -> int:
        """An id. Raises AbsentError."""
        text = self.params[name]
        if not (text.isdecimal() and text.isascii() and len(text) < 20 and int(text) <= MAX_ID):
            raise AbsentError(f"there is nothing with the id {text[:40]}")
        return int(text)


def plain(value: object) -> JsonValue:
    """As the console's tables take it: times as the API writes them, dollars to the cent."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)
