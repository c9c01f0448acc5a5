"""SQL with named parameters."""

from dataclasses import dataclass

import pytest

from roost.store import Store
from roost.store.statement import Statement, changed, inserted, selected


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


def test_a_dataclass_says_its_columns() -> None:
    assert selected(Row, size="octet_length(text)") == '"label", octet_length(text) as "size"'
    with pytest.raises(ValueError, match="Row: length"):
        selected(Row, length="1")


def test_a_dataclass_says_what_is_inserted() -> None:
    """A field that is given in another form is no column of its own."""
    sql = inserted(Row, status="'new'", bytes=":size::bigint * 1024")
    assert sql == '("label", "status", "bytes") values (:label, \'new\', :size::bigint * 1024)'
