"""A filter finds the rows that a plain reading of it finds."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roost.settings import Settings
from roost.store import Store
from roost.store.paging import Column, Listing, fetch_page
from roost.web.filters import parse_filter
from tests.support.database import DatabaseServer

Cell = int | str | bool | list[str] | float | None
Row = dict[str, Cell]

THINGS = Listing(
    record="t.id",
    source="thing t",
    scope="t.id > $1",
    key="t.id",
    columns={
        "id": Column("t.id", "int"),
        "size": Column("t.size", "int"),
        "price": Column("t.price", "number"),
        "label": Column("t.label", "text"),
        "open": Column("t.open", "bool"),
        "made": Column("t.made", "time"),
        "entity.id": Column("t.entity_id", "id"),
        "tags": Column("t.tags", "texts"),
    },
)

SIZES = [-1, 0, 7, 2**62, 2**70]
PRICES = [0.0, 0.1, 7, 1e300]
LABELS = ["", "a", "A", "a%b", "a_b", "ab", "\\", "Ä", "'--"]
TIMES = ["2024-01-01", "2024-01-01T00:00:00", "2024-02-29T23:59:59", "0001-01-01T00:00:00"]
ENTITIES = ["7", "x/7", "a"]
TAGS = ["a", "ab", "%", ""]


def row(n: int) -> Row:
    """Rows that differ in every column and hold nulls."""
    return {
        "id": n + 1,
        "size": [-1, 0, 7, 2**62, None][n % 5],
        "price": [0.1, 7, None][n % 3],
        "label": [*LABELS, None][n % 10],
        "open": [True, False, None][n % 3],
        "made": [*TIMES[1:], None][n % 4],
        "entity.id": [*ENTITIES, None][n % 4],
        "tags": TAGS[: n % 4] if n % 7 else None,
    }


ROWS = [row(n) for n in range(60)]


def operators(values: Sequence[object], names: list[str]) -> st.SearchStrategy[object]:
    scalar = st.sampled_from(values)
    nullable = st.none() | scalar
    tests: list[st.SearchStrategy[dict[str, object]]] = [
        st.fixed_dictionaries({"+neq": nullable}),
        *(st.fixed_dictionaries({name: scalar}) for name in names),
    ]
    one = st.one_of(nullable, *tests)
    return one | st.fixed_dictionaries({"+or": st.lists(one, max_size=3)})


ORDER = ["+gt", "+gte", "+lt", "+lte"]
FIELDS: list[tuple[str, Sequence[object], list[str]]] = [
    ("id", [1, 7, 60, 2**64], ORDER),
    ("size", SIZES, ORDER),
    ("price", PRICES, ORDER),
    ("label", LABELS, ["+contains"]),
    ("open", [True, False], []),
    ("made", TIMES, ORDER),
    ("entity.id", ENTITIES, ["+contains"]),
    ("tags", TAGS, ["+contains"]),
]
members = st.one_of(
    *(st.fixed_dictionaries({key: operators(values, names)}) for key, values, names in FIELDS)
)
conditions = st.recursive(
    members | st.lists(members, max_size=3).map(lambda parts: {k: p[k] for p in parts for k in p}),
    lambda inner: st.builds(
        lambda word, parts: {word: parts},
        st.sampled_from(["+and", "+or"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)
orders: st.SearchStrategy[dict[str, str]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"+order_by": st.sampled_from(["id", "size", "price", "made", "open"])},
        optional={"+order": st.sampled_from(["asc", "desc"])},
    ),
)
limits: st.SearchStrategy[dict[str, int]] = st.just({}) | st.fixed_dictionaries(
    {"+limit": st.integers(1, 70)}
)


@pytest.fixture(scope="module")
async def things(database_server: DatabaseServer) -> AsyncIterator[Store]:
    async with database_server.database() as url:
        store = await Store.open(Settings(database_url=url))
        await store.execute(
            "create table thing (id bigint primary key, size bigint, price numeric, label text,"
            " open boolean, made timestamp(0), entity_id text, tags text[])"
        )
        for one in ROWS:
            values = [_stored(key, one[key]) for key in THINGS.columns]
            await store.execute("insert into thing values ($1,$2,$3,$4,$5,$6,$7,$8)", *values)
        yield store
        await store.close()


def _stored(key: str, value: Cell) -> object:
    if value is None:
        return None
    if key == "made":
        return datetime.fromisoformat(str(value))
    return Decimal(str(value)) if key == "price" else value


def holds(wanted: object, one: Row) -> bool:
    """Whether a row meets a filter object."""
    assert isinstance(wanted, dict)
    for key, value in wanted.items():
        if key == "+and":
            met = all(holds(part, one) for part in value)
        elif key == "+or":
            met = any(holds(part, one) for part in value)
        else:
            met = meets(key, one[key], value)
        if not met:
            return False
    return True


def meets(key: str, cell: Cell, wanted: object) -> bool:
    if not isinstance(wanted, dict):
        return equals(key, cell, wanted)
    return all(apply(key, cell, name, operand) for name, operand in wanted.items())


def equals(key: str, cell: Cell, wanted: object) -> bool:
    if isinstance(cell, list) and wanted is not None:
        return wanted in cell
    if key == "made" and None not in (cell, wanted):
        return ordinal(key, cell) == ordinal(key, wanted)
    return cell == wanted


def apply(key: str, cell: Cell, name: str, operand: object) -> bool:
    if name == "+or":
        assert isinstance(operand, list)
        return any(meets(key, cell, part) for part in operand)
    if name == "+neq":
        return not equals(key, cell, operand)
    if cell is None:
        return False
    if name == "+contains":
        texts = cell if isinstance(cell, list) else [str(cell)]
        return any(str(operand).lower() in text.lower() for text in texts)
    left, right = ordinal(key, cell), ordinal(key, operand)
    return {
        "+gt": left > right,
        "+gte": left >= right,
        "+lt": left < right,
        "+lte": left <= right,
    }[name]


def ordinal(key: str, value: object) -> int | float:
    """What orders the values of a column."""
    if key == "made":
        return (datetime.fromisoformat(str(value)) - datetime.min).total_seconds()
    assert isinstance(value, int | float)
    return value


def expected(filter_: dict[str, object], limit: int | None) -> list[Cell]:
    order_by = str(filter_.get("+order_by", "id"))
    condition = {key: part for key, part in filter_.items() if key not in TOP_LEVEL}
    found = [one for one in ROWS if holds(condition, one)]
    empty = [one for one in found if one[order_by] is None]
    rest = [one for one in found if one[order_by] is not None]
    rest.sort(key=lambda one: ordinal(order_by, one[order_by]))
    ascending = [one["id"] for one in rest + empty]
    return (ascending[::-1] if filter_.get("+order") == "desc" else ascending)[:limit]


TOP_LEVEL = ("+order_by", "+order", "+limit")


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(conditions, orders, limits)
async def test_same_rows_as_a_plain_reading(
    things: Store, condition: dict[str, object], order: dict[str, object], limit: dict[str, int]
) -> None:
    filter_ = {**condition, **order, **limit}
    selection = parse_filter(json.dumps(filter_), THINGS.columns)
    body = json.loads(await fetch_page(things, THINGS, (0,), selection, 1, 100))
    wanted = expected(filter_, limit.get("+limit"))
    assert [one["id"] for one in body["data"]] == wanted
    assert body["results"] == len(wanted)
