"""Lists: one page of a collection as the JSON envelope, built by PostgreSQL.

Every list is one statement, so that its rows and its totals belong together. The keys of a page
are found first and its records made afterwards; past the middle the keys are read backwards.
"""

# ruff: noqa: S608  (statements are put together from the listings' own SQL, never from input)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import orjson
from asyncpg import QueryCanceledError, Record

from roost.errors import invalid, not_found
from roost.store import Queries
from roost.store.conditions import Column, ColumnType, Condition, render
from roost.store.counts import Counted
from roost.store.parts import Part, parts_sql

__all__ = [
    "Column",
    "ColumnType",
    "Counted",
    "ListStatement",
    "Listing",
    "Part",
    "Selection",
    "fetch_page",
    "fetch_record",
    "page_of",
]

LIST_SECONDS = 5.0
"""That a list may take: whoever asks for more shall not keep others from the database."""

_ABSURD = 2**64
_BEYOND = 2**62
_REMEMBERED = 512
"""Statements, of some thousand characters each."""


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """How a collection is read; every part is SQL in terms of `source`."""

    record: str
    """The columns of one row's record: what stands between SELECT and FROM."""
    source: str
    """The from clause, such as `compute_instance i`, with no more than scope and columns need."""
    scope: str
    """Which rows the caller may see, such as `i.account_id = $1`."""
    key: str
    """A unique expression that gives the default order; an index should serve scope and key."""
    columns: Mapping[str, Column]
    """The filterable fields (column F of the reference's records); dots reach nested ones."""
    descending: bool = False
    granted: tuple[str, str] | None = None
    """The kind and the id of the entity on which a restricted user needs a grant to see a row."""
    gathered: bool = False
    """Whether a page gathers the keys of all rows first: where the key is more than one column, or
    unique within the scope only. The source is then named `found`, and the columns of the key are
    all that is left for `record` and for the order."""
    counted: Counted | None = None
    """Where the number of the rows in scope is kept; None: they are counted each time."""
    parts: tuple[Part, ...] = ()
    """The parts of a gathered list that is made of lists whose rows are counted."""

    @property
    def total(self) -> str | None:
        """SQL of the number of rows in scope, where it costs the same however many they are."""
        if self.parts:
            return " + ".join(part.total for part in self.parts)
        return None if self.counted is None else self.counted.total(self.source)

    def narrowed(self, condition: str, counted: Counted | None = None) -> "Listing":
        """The rows of the scope for which a condition holds too."""
        return replace(self, scope=f"({self.scope}) and {condition}", counted=counted)

    @property
    def record_text(self) -> str:
        """The record as JSON text without spaces."""
        return f"(select row_to_json(record) from (select {self.record}) record)::text"


@dataclass(frozen=True, slots=True)
class Selection:
    """What a caller's X-Filter asks for."""

    condition: Condition | None = None
    order_by: Column | None = None
    descending: bool | None = None
    """Whether the order is turned round; None: as it is."""
    limit: int | None = None


_EVERYTHING = Selection()


async def fetch_page(
    db: Queries,
    listing: Listing,
    scope: tuple[object, ...],
    selection: Selection,
    page: int,
    page_size: int,
) -> bytes:
    """The envelope `{"data", "page", "pages", "results"}` (spec A envelope).

    ApiError 404 for a page after the last one; an absurd page (above 2^64 / page_size) is the
    last one (reference, Pagination). ApiError 400 when a filter takes more than 5 seconds.
    """
    if page * page_size > _ABSURD:
        statement = ListStatement(listing, scope, selection)
        counted = await _fetch(db, statement.count(), statement.arguments, selection)
        page = _pages(counted["count"], page_size)
    offset = min((page - 1) * page_size, _BEYOND)
    sql, arguments = _of_page(listing, scope, selection, offset, page_size)
    row = await _fetch(db, sql, arguments, selection)
    results, data = row["results"], row["data"] or ""
    pages = _pages(results, page_size)
    if page > pages:
        raise not_found()
    return f'{{"data":[{data}],"page":{page},"pages":{pages},"results":{results}}}'.encode()


def _of_page(
    listing: Listing, scope: tuple[object, ...], selection: Selection, offset: int, size: int
) -> tuple[str, Sequence[object]]:
    """Most callers want the first page of all, whose SQL is put together once."""
    if offset or selection != _EVERYTHING:
        return ListStatement(listing, scope, selection).page(offset, size)
    return _first_page(listing, len(scope), size), (*scope, 0) if listing.gathered else scope


@lru_cache(_REMEMBERED)
def _first_page(listing: Listing, parameters: int, size: int) -> str:
    return ListStatement(listing, (None,) * parameters, _EVERYTHING).page(0, size)[0]


@lru_cache(_REMEMBERED)
def _one_record(listing: Listing, parameters: int) -> str:
    """SQL of the record whose key is the parameter behind those of the scope."""
    return (
        f"select {listing.record_text} from {listing.source}"
        f" where ({listing.scope}) and {listing.key} = ${parameters + 1}"
    )


async def _fetch(
    db: Queries, sql: str, arguments: Sequence[object], selection: Selection
) -> Record:
    try:
        row = await db.fetchrow(sql, *arguments, timeout=LIST_SECONDS)
    except QueryCanceledError:
        if selection.condition is None and selection.order_by is None:
            raise
        raise invalid("The filter takes too long", "X-Filter") from None
    assert row is not None
    return row


async def fetch_record(
    db: Queries, listing: Listing, scope: tuple[object, ...], key: int | str
) -> bytes:
    """One record of a listing by its key; ApiError 404 when it is not there or out of scope."""
    found = await db.fetchval(_one_record(listing, len(scope)), *scope, key)
    if found is None:
        raise not_found()
    return str(found).encode()


def page_of(rows: Sequence[Mapping[str, object]], page: int, page_size: int) -> bytes:
    """The envelope of a list over rows that are at hand, for lists that are always short."""
    pages = _pages(len(rows), page_size)
    if page * page_size > _ABSURD:
        page = pages
    if page > pages:
        raise not_found()
    data = rows[(page - 1) * page_size : page * page_size]
    return orjson.dumps({"data": data, "page": page, "pages": pages, "results": len(rows)})


def _key(listing: Listing) -> str:
    """What rows are ordered by; the columns of a gathered list's key as one."""
    return f"({listing.key})" if listing.gathered else listing.key


def _pages(results: int, page_size: int) -> int:
    return max(1, -(-results // page_size))


class ListStatement:
    """The parts of a list's statement and the arguments that they share."""

    def __init__(self, listing: Listing, scope: tuple[object, ...], selection: Selection) -> None:
        self._listing = listing
        self._limit = selection.limit
        self._total = listing.total if selection.condition is None else None
        self._parts = () if selection != _EVERYTHING else listing.parts
        self.arguments: list[object] = list(scope)
        self._where = f"({listing.scope})"
        if selection.condition is not None:
            self._where += f" and {render(selection.condition, self.arguments)}"
        descending = selection.descending
        self._order = [(_key(listing), listing.descending if descending is None else descending)]
        if selection.order_by is not None:
            turned = bool(descending)
            self._order = [(selection.order_by.order, turned), (_key(listing), turned)]

    def count(self) -> str:
        if self._total is not None:
            limit = "null" if self._limit is None else str(self._limit)
            return f"select least({self._total}, {limit}) as count"
        source = f"from {self._listing.source} where {self._where}"
        if self._limit is None:
            return f"select count(*) {source}"
        return f"select count(*) from (select {source} limit {self._limit}) as capped"

    def page(self, offset: int, size: int) -> tuple[str, list[object]]:
        """Columns `results` and `data` (records with commas between them, or NULL)."""
        arguments = list(self.arguments)
        if self._limit is not None:
            size = max(0, min(size, self._limit - offset))
        if self._listing.gathered:
            arguments.append(offset)
            skipped = f"${len(arguments)}::bigint"
            gather = self._joined if self._parts else self._gathered
            return gather(skipped, size), arguments
        if offset == 0:
            data = self._records(f"limit {size}", size)
        else:
            arguments.append(offset)
            data = self._later_records(f"${len(arguments)}::bigint", size)
        return (
            f"with total (results) as materialized ({self.count()})"
            f" select results, ({data}) as data from total",
            arguments,
        )

    def _gathered(self, skipped: str, size: int) -> str:
        listing = self._listing
        limit = "" if self._limit is None else f" limit {self._limit}"
        return (
            f"with keys as materialized ("
            f"select {listing.key} from {listing.source} where {self._where})"
            f" select (select count(*) from (select from keys{limit}) as capped) as results,"
            f" (select string_agg({listing.record_text}, ',' order by {self._sorting()}) from ("
            f"select * from keys as found order by {self._sorting()} limit {size} offset {skipped}"
            f") as found) as data"
        )

    def _joined(self, skipped: str, size: int) -> str:
        listing = self._listing
        windows, keys = parts_sql(self._parts, skipped, size)
        return (
            f"with {windows} select (select sum(rows) from part)::bigint as results,"
            f" (select string_agg({listing.record_text}, ',' order by {self._sorting()})"
            f" from ({keys}) as found) as data"
        )

    def _later_records(self, skipped: str, size: int) -> str:
        forward = self._records(f"limit {size} offset {skipped}", size)
        if self._limit is not None:
            return forward
        left = f"total.results - {skipped}"
        window = f"limit least({size}, {left}) offset greatest(0, {left} - {size})"
        backward = self._records(window, size, backwards=True)
        return (
            f"case when {left} <= 0 then null when {left} > {skipped} then ({forward})"
            f" else ({backward}) end"
        )

    def _records(self, window: str, size: int, backwards: bool = False) -> str:
        listing = self._listing
        keys = (
            f"select {listing.key} as key from {listing.source} where {self._where}"
            f" order by {self._sorting(backwards)} {window}"
        )
        # A window that is not a number counts as a tenth of the table in the plan; this LIMIT
        # tells the planner that the join meets few keys.
        return (
            f"select string_agg({listing.record_text}, ',' order by {self._sorting()})"
            f" from {listing.source} join (select key from ({keys}) as keys limit {size}) as page"
            f" on page.key = {listing.key}"
        )

    def _sorting(self, backwards: bool = False) -> str:
        return ", ".join(
            f"{sql} {'desc' if descending != backwards else 'asc'}"
            for sql, descending in self._order
        )
