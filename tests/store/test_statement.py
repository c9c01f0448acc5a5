"""SQL with named parameters."""

from dataclasses import dataclass

import pytest

from roost.store import Store
from roost.store.statement import Statement, changed


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    size: int


def test_names_become_numbers_once() -> None:
    sql = "update t set a = :a, b = :b_2::text where a <> :a and c::int = 1"
    numbered = "update t set a = $1, b = $2::text where a <> $1 and c::int = 1"
    assert Statement(sql).of(a=1, b_2=2) == (numbered, 1, 2)


async def test_values_and_attributes(store: Store) -> None:
    """What is given by name comes before the attribute."""
    statement = Statement("select :label::text || ' ' || :size::int")
    assert await store.fetchval(*statement.of(Row("a", 1))) == "a 1"
    assert await store.fetchval(*statement.of(Row("a", 1), size=2)) == "a 2"


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(AttributeError):
        Statement("select :other").of(Row("a", 1))


def test_what_has_no_value_stays() -> None:
    sql, *values = Statement(f"update t set {changed('label', 'group')}").of(label=None, group="a")
    wanted = 'update t set "label" = coalesce($1, "label"), "group" = coalesce($2, "group")'
    assert (sql, values) == (wanted, [None, "a"])
