"""Lists that show one collection after the other: the rows of each that belong to a page.

As it is known how many rows each collection has, a page reads those alone that it lies in, and
each from its nearer end.
"""

# ruff: noqa: S608  (statements are put together from the listings' own SQL, never from input)

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One of the collections; every part is SQL."""

    keys: str
    """A statement without an order: the columns of the list's key."""
    key: str
    """What it is to be ordered by."""
    total: str
    """How many rows the statement has."""


def parts_sql(parts: Sequence[Part], skipped: str, size: int) -> tuple[str, str]:
    """Two WITH queries, of which `part` has the `rows` of each, and the keys of a page's rows."""
    counts = ", ".join(f"({number}, {part.total})" for number, part in enumerate(parts))
    windows = f"""
        counted as materialized (
            select number, rows, sum(rows) over (order by number)::bigint - rows as before
            from (values {counts}) as counts (number, rows)),
        part as materialized (
            select number, rows, skipped,
                greatest(0, least(rows, {skipped} + {size} - before) - skipped) as wanted
            from counted, least(rows, greatest(0, {skipped} - before)) as skipped)
        """
    keys = " union all ".join(_window(number, part) for number, part in enumerate(parts))
    return windows, keys


def _window(number: int, part: Part) -> str:
    """A LIMIT of 0 reads nothing."""
    of = f"from part where number = {number}"
    return f"""
        ({part.keys} order by {part.key}
            limit (select case when skipped * 2 <= rows then wanted else 0 end {of})
            offset (select skipped {of}))
        union all
        ({part.keys} order by {part.key} desc
            limit (select case when skipped * 2 > rows then wanted else 0 end {of})
            offset (select rows - skipped - wanted {of}))
        """
