"""The items of an invoice as comma-separated values (RFC 4180)."""

import csv
from collections.abc import Iterable, Iterator
from io import StringIO

from roost.resources.billing.document_queries import ItemFacts

_COLUMNS = (
    *("label", "type", "quantity", "unit_price", "from", "to"),
    *("region", "amount", "tax", "total"),
)
"""The names of the API."""
_FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What makes a spreadsheet compute what begins with it, also as the wide characters."""


def header() -> bytes:
    """The first line."""
    return _lines([_COLUMNS])


def lines(items: Iterable[ItemFacts]) -> bytes:
    """One for each item, in UTF-8; texts cannot become formulas."""
    return _lines(map(_cells, items))


def _lines(rows: Iterable[Iterable[object]]) -> bytes:
    text = StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cells(item: ItemFacts) -> Iterator[object]:
    """None is nothing between commas."""
    yield _harmless(item.label)
    yield item.type
    yield item.quantity
    yield item.unit_price
    yield None if item.start is None else item.start.isoformat()
    yield None if item.end is None else item.end.isoformat()
    yield _harmless(item.region or "")
    yield item.amount
    yield item.tax
    yield item.total


def _harmless(text: str) -> str:
    return f"'{text}" if text[:1] in _FORMULA else text
