"""SQL as the declaration of a function (`roost.store.query`)."""

from collections.abc import Collection
from dataclasses import dataclass

import asyncpg
import pytest

from roost.store import Queries, Store
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Row:
    id: int
    label: str


_ROWS = "select id, 'row ' || id as label from generate_series(1, 3) as id"


@query(f"{_ROWS} where id = $1")
async def find(db: Queries, row_id: int) -> Row | None: ...


@query(f"{_ROWS} where id = $1")
async def get(db: Queries, row_id: int) -> Row: ...


@query(f"{_ROWS} where id = any($1) order by id")
async def find_all(db: Queries, ids: Collection[int]) -> list[Row]: ...


@query(f"{_ROWS} order by id desc")
async def ids(db: Queries) -> list[int]: ...


@query("select id % $1::int from generate_series(1, 3) as id")
async def remainders(db: Queries, divisor: int) -> set[int]: ...


@query("select id, id * $1::int from generate_series(1, 2) as id")
async def products(db: Queries, factor: int) -> dict[int, int]: ...


@query("select $1::int - $2::int")
async def difference(db: Queries, first: int, *, second: int = 1) -> int: ...


@query("select 1 where $1::bool")
async def is_so(db: Queries, wanted: bool) -> bool: ...


@query("select null::text")
async def nothing(db: Queries) -> str | None: ...


@query("select $1::int")
async def forget(db: Queries, value: int) -> None: ...


async def test_rows(store: Store) -> None:
    assert await find(store, 2) == Row(2, "row 2")
    assert await find(store, 4) is None
    assert await get(store, 1) == Row(1, "row 1")
    with pytest.raises(AssertionError):
        await get(store, 4)


@pytest.mark.parametrize("ids", [[3, 1], {3, 1}, (1, 3), {1: "a", 3: "b"}, {1: "a", 3: "b"}.keys()])
async def test_an_array_of_any_collection(ids: Collection[int], store: Store) -> None:
    assert await find_all(store, ids) == [Row(1, "row 1"), Row(3, "row 3")]


async def test_columns(store: Store) -> None:
    assert await ids(store) == [3, 2, 1]
    assert await remainders(store, 2) == {0, 1}
    assert await products(store, 10) == {1: 10, 2: 20}


async def test_values(store: Store) -> None:
    assert await is_so(store, True) is True
    assert await is_so(store, False) is False
    assert await nothing(store) is None
    assert await forget(store, 1) is None  # type: ignore[func-returns-value]


async def test_values_go_in_by_their_parameters(store: Store) -> None:
    """However they are given; what is missing is a TypeError before anything is sent."""
    assert await difference(store, 5) == 4
    assert await difference(store, second=2, first=5) == 3
    async with store.transaction() as db:
        assert await difference(db, 5, second=3) == 2
    with pytest.raises(TypeError):
        await difference(store)  # type: ignore[call-arg]


async def test_a_fault_of_the_server(store: Store) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        await remainders(store, 0)


def test_the_signature_has_the_parameters_of_the_sql() -> None:
    async def one(db: Queries, first: int) -> int: ...

    for sql in ("select 1", "select $1::int + $2::int", "select $2::int"):
        with pytest.raises(ValueError, match="one has other parameters than its SQL"):
            query(sql)(one)
