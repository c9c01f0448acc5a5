"""Lists whose columns and filters are those of their record."""

from typing import Literal

import pytest
from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Sought, TagLabels, Timestamp
from roost.core.lists import listing_of
from roost.store.conditions import Column


class ThingRow(TypedDict):
    """One of each sort of field."""

    id: Id
    label: Folded[str]
    group: Filtered[str | None]
    kind: Filtered[Literal["a", "b"]]
    size: Filtered[int]
    open: Sought[bool]
    price: Filtered[float]
    tags: Filtered[TagLabels]
    owner: Filtered[str]
    until: Filtered[Timestamp | None]
    created: Created


def test_fields_are_columns_unless_they_are_sql() -> None:
    things = listing_of(
        ThingRow,
        source="thing t join owner o on o.id = t.owner_id",
        scope="t.account_id = $1",
        key="t.number",
        sql={"owner": "o.name"},
        columns={"owner.id": Column("o.id", "int")},
    )
    assert things.record == (
        't."id" as "id", t."label" as "label", t."group" as "group", t."kind" as "kind",'
        ' t."size" as "size", t."open" as "open", t."price" as "price", t."tags" as "tags",'
        ' o.name as "owner", t."until" as "until", t."created" as "created"'
    )
    assert things.columns == {
        "label": Column('t."label"', "text", folds=True),
        "group": Column('t."group"', "text"),
        "kind": Column('t."kind"', "text"),
        "size": Column('t."size"', "int"),
        "open": Column('t."open"', "bool", sortable=False),
        "price": Column('t."price"', "number"),
        "tags": Column('t."tags"', "texts"),
        "owner": Column("o.name", "text"),
        "until": Column('t."until"', "time"),
        "created": Column('t."created"', "time"),
        "owner.id": Column("o.id", "int"),
    }


@pytest.mark.parametrize(
    ("sql", "columns"),
    [({"lable": "t.label"}, {}), ({}, {"label": Column("t.label", "text")})],
    ids=["no such field", "a filter of the record"],
)
def test_what_does_not_fit(sql: dict[str, str], columns: dict[str, Column]) -> None:
    with pytest.raises(ValueError, match=r"^ThingRow: la"):
        listing_of(ThingRow, source="thing t", scope="", key="t.id", sql=sql, columns=columns)
