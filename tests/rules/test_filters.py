"""X-Filter: what it compiles to, what it refuses, and that nothing else can happen."""

import json
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.errors import ApiError
from roost.store.conditions import Column, render
from roost.store.paging import Selection
from roost.web.filters import FIELD, MAX_COMPARISONS, MAX_DEPTH, parse_filter

COLUMNS = {
    "id": Column("i.id", "int"),
    "label": Column("i.label", "text"),
    "price": Column("i.price", "number"),
    "public": Column("i.public", "bool"),
    "created": Column("i.created", "time"),
    "entity.id": Column("i.entity_id", "id"),
    "tags": Column("i.tags", "texts"),
    "status": Column("i.status", "text", sortable=False),
}

COMPILED: list[tuple[object, str, list[object]]] = [
    ({"label": "x"}, "i.label = $2::text", ["x"]),
    ({"label": None}, "i.label is null", []),
    ({"id": 7, "label": "x"}, "(i.id = $2::bigint and i.label = $3::text)", [7, "x"]),
    ({"id": 7.0}, "i.id = $2::bigint", [7]),
    ({"id": 2**63}, "i.id = $2::numeric", [2**63]),
    ({"id": {"+gt": 2**70}}, "i.id > $2::numeric", [2**70]),
    ({"price": 0.5}, "i.price = $2::numeric", [Decimal("0.5")]),
    ({"price": {"+lte": 5}}, "i.price <= $2::numeric", [Decimal(5)]),
    ({"public": True}, "i.public = $2::boolean", [True]),
    ({"entity.id": 5}, "i.entity_id = $2::text", ["5"]),
    ({"entity.id": "private/5"}, "i.entity_id = $2::text", ["private/5"]),
    ({"tags": "web"}, "i.tags @> array[$2::text]", ["web"]),
    ({"tags": {"+neq": "web"}}, "(i.tags @> array[$2::text]) is not true", ["web"]),
    ({"label": {"+neq": "x"}}, "i.label is distinct from $2::text", ["x"]),
    ({"label": {"+neq": None}}, "i.label is not null", []),
    (
        {"label": {"+contains": "50%_\\"}},
        "strpos(lower(left(i.label, 1024)), lower($2::text)) > 0",
        ["50%_\\"],
    ),
    (
        {"id": {"+gte": 1, "+lt": 9}},
        "(i.id >= $2::bigint and i.id < $3::bigint)",
        [1, 9],
    ),
    (
        {"+or": [{"label": "a"}, {"+and": [{"tags": "b"}, {"id": 1}]}]},
        "(i.label = $2::text or (i.tags @> array[$3::text] and i.id = $4::bigint))",
        ["a", "b", 1],
    ),
    (
        {"id": {"+or": [1, {"+gt": 5}]}},
        "(i.id = $2::bigint or i.id > $3::bigint)",
        [1, 5],
    ),
    ({"+or": []}, "false", []),
    ({"+and": []}, "true", []),
    (
        {"created": {"+gte": "2018-01-02T03:04:05"}},
        "i.created >= $2::timestamp",
        [datetime(2018, 1, 2, 3, 4, 5)],
    ),
    ({"created": "2018-01-02"}, "i.created = $2::timestamp", [datetime(2018, 1, 2)]),
    (
        {"created": "2018-01-02T03:00:00+02:00"},
        "i.created = $2::timestamp",
        [datetime(2018, 1, 2, 1)],
    ),
]

REFUSED: list[tuple[str, str]] = [
    ('{"label": {"+contains": "' + "x" * 256 + '"}}', "+contains is limited to 255 characters"),
    ("{", "Filter not valid JSON"),
    ("[]", "Filter not valid JSON"),
    ('""', "Filter not valid JSON"),
    ("null", "Filter not valid JSON"),
    ('{"id": NaN}', "Filter not valid JSON"),
    ('{"label": "\ud800"}', "Filter not valid JSON"),
    ('{"label": "\\ud800"}', "Filter not valid JSON"),
    ('{"nope": 1}', "Cannot filter on nope"),
    ('{"entity": 1}', "Cannot filter on entity"),
    ('{"+or": [{"nope": 1}]}', "Cannot filter on nope"),
    ('{"+order_by": "nope"}', "Cannot filter on nope"),
    ('{"+order_by": "status"}', "Cannot order by status"),
    ('{"+order_by": "tags"}', "Cannot order by tags"),
    ('{"+order_by": 1}', "+order_by must be the name of a field"),
    ('{"+order_by": "id", "+order": "up"}', "+order must be one of asc, desc"),
    ('{"+order_by": "id", "+order": null}', "+order must be one of asc, desc"),
    ('{"+order_by": "id", "+order": []}', "+order must be one of asc, desc"),
    ('{"+limit": 0}', "+limit must be a positive integer"),
    ('{"+limit": "5"}', "+limit must be a positive integer"),
    ('{"+limit": true}', "+limit must be a positive integer"),
    ('{"+like": 1}', "+like is not valid here"),
    ('{"+gt": 1}', "+gt is not valid here"),
    ('{"id": {"+like": 1}}', "+like is not valid here"),
    ('{"id": {"gt": 1}}', "gt is not valid here"),
    ('{"+or": [{"+order_by": "id"}]}', "+order_by is not valid here"),
    ('{"+and": {"id": 1}}', "+and must be an array"),
    ('{"+and": [1]}', "A filter must be an object"),
    ('{"id": {}}', "id needs a value or an operator"),
    ('{"id": "7"}', "id must be compared with an integer"),
    ('{"id": true}', "id must be compared with an integer"),
    ('{"id": 1.5}', "id must be compared with an integer"),
    ('{"id": [1]}', "id must be compared with an integer"),
    ('{"id": {"+gt": null}}', "id must be compared with an integer"),
    ('{"id": {"+contains": "1"}}', "id cannot be compared that way"),
    ('{"price": "1"}', "price must be compared with a number"),
    ('{"public": 1}', "public must be compared with a boolean"),
    ('{"public": {"+lt": true}}', "public cannot be compared that way"),
    ('{"created": "soon"}', "created must be compared with a date-time"),
    ('{"created": 5}', "created must be compared with a date-time"),
    ('{"created": "0001-01-01T00:00:00+10:00"}', "created must be compared with a date-time"),
    ('{"label": 5}', "label must be compared with a string"),
    ('{"label": {"+contains": 5}}', "label must be compared with a string"),
    ('{"label": {"+gt": "a"}}', "label cannot be compared that way"),
    ('{"label": "a\\u0000"}', "label must be compared with a string without NUL"),
    ('{"entity.id": 1.5}', "entity.id must be compared with a string"),
]


@pytest.mark.parametrize(("filter_", "sql", "values"), COMPILED)
def test_compiles(filter_: object, sql: str, values: list[object]) -> None:
    selection = parse_filter(json.dumps(filter_), COLUMNS)
    assert selection.condition is not None
    arguments: list[object] = ["the scope's argument"]
    assert render(selection.condition, arguments) == sql
    assert arguments[1:] == values


@pytest.mark.parametrize(("header", "reason"), REFUSED)
def test_refuses(header: str, reason: str) -> None:
    with pytest.raises(ApiError) as refusal:
        parse_filter(header, COLUMNS)
    assert refusal.value.status == 400
    assert [(p.reason, p.field) for p in refusal.value.problems] == [(reason, FIELD)]


@pytest.mark.parametrize("header", [None, "{}"])
def test_no_conditions_no_filter(header: str | None) -> None:
    assert parse_filter(header, COLUMNS) == Selection()


def test_order_and_limit() -> None:
    header = '{"+order_by": "label", "+order": "desc", "+limit": 3}'
    selection = parse_filter(header, COLUMNS)
    assert selection.order_by is COLUMNS["label"]
    assert selection.descending
    assert selection.limit == 3
    assert selection.condition is None


@pytest.mark.parametrize(("order", "descending"), [("asc", False), ("desc", True)])
def test_an_order_alone_turns_the_lists_own(order: str, descending: bool) -> None:
    selection = parse_filter(f'{{"+order": "{order}"}}', COLUMNS)
    assert (selection.order_by, selection.descending) == (None, descending)


def nested(depth: int) -> str:
    return '{"+and": [' * depth + '{"id": 1}' + "]}" * depth


def test_depth_is_capped() -> None:
    parse_filter(nested(MAX_DEPTH - 1), COLUMNS)
    for depth in (MAX_DEPTH, 200, 5000):
        with pytest.raises(ApiError):
            parse_filter(nested(depth), COLUMNS)


def test_size_is_capped() -> None:
    def many(count: int) -> str:
        return json.dumps({"+or": [{"id": n} for n in range(count)]})

    parse_filter(many(MAX_COMPARISONS), COLUMNS)
    with pytest.raises(ApiError, match="limited to"):
        parse_filter(many(MAX_COMPARISONS + 1), COLUMNS)


keys = st.sampled_from(
    [*COLUMNS, "+and", "+or", "+gt", "+contains", "+neq", "+order_by", "+order", "+limit", "x"]
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["asc"])
)
values = st.recursive(
    scalars | st.datetimes().map(datetime.isoformat),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def status(header: str) -> int:
    try:
        selection = parse_filter(header, COLUMNS)
    except ApiError as refusal:
        return refusal.status
    if selection.condition is not None:
        render(selection.condition, [])
    return 200


@given(st.dictionaries(keys, values, max_size=4) | values)
def test_any_json_compiles_or_is_refused(value: object) -> None:
    assert status(json.dumps(value)) in (200, 400)


@given(st.text())
def test_any_text_compiles_or_is_refused(header: str) -> None:
    assert status(header) in (200, 400)
