"""What all lists have in common: envelope, pages, filters and order (spec A; reference: errors)."""

import json
import re
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.registry import Endpoint, Page, Registry
from tests.api.conftest import Account
from tests.api.samples.paths import become_welcome, make_row, sample_path
from tests.support.client import Answer, Client, Json

pytestmark = pytest.mark.spec("A envelope", "A limits page_size", "B filter")

ENDPOINTS = tuple(Registry(GROUPS.endpoints))
LISTS = [e for e in ENDPOINTS if isinstance(e.returns, Page)]
COLUMNS = [
    pytest.param(
        e, name, column.type, column.sortable and column.type != "texts", id=f"{e.name}-{name}"
    )
    for e in LISTS
    for name, column in e.filters.items()
]
RIGHT: dict[str, Json] = {
    "int": [0, -1, 2**63, -(2**70), 1e300],
    "number": [0, 1.5, 1e300, -1e-300],
    "bool": [True, False],
    "time": [
        "2024-01-01T00:00:00",
        "2024-01-01",
        "9999-12-31T23:59:59",
        "2024-01-01T00:00:00+02:00",
    ],
    "text": ["", "x", "%", "caf\u00e9", "x" * 3000, "'; drop table event; --"],
    "texts": ["", "x", "{}", "a,b"],
    "id": [1, "1", "x", ""],
}
WRONG: dict[str, Json] = {
    "int": ["1", 1.5, True, [1]],
    "number": ["1", True, [1]],
    "bool": ["true", 1, 0],
    "time": [1, "yesterday", "2024-13-01T00:00:00", ""],
    "text": [1, True, ["x"], "a\0b"],
    "texts": [1, True, "a\0b"],
    "id": [1.5, True, "a\0b"],
}
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
CARD_EXPIRY = re.compile(r"\d\d/\d{4}")
TIMES = (
    "created",
    "updated",
    "built",
    "closed",
    "datetime",
    "eol",
    "expiry",
    "last_authenticated",
    "last_successful",
    "login_datetime",
    "opened",
    "password_created",
    "until",
    "when",
)

every = pytest.mark.parametrize("endpoint", LISTS, ids=lambda e: e.name)


@pytest.fixture
async def path(endpoint: Endpoint, client: Client, roost: Roost, account: Account) -> str:
    """The list's path; the account has something to list."""
    await become_welcome(endpoint, client, roost, account)
    path = await sample_path(endpoint, client, roost, account)
    await make_row(endpoint, path, client, roost, account)
    return path


async def filtered(client: Client, path: str, wanted: Json) -> Answer:
    return await client.send("GET", path, headers={"X-Filter": json.dumps(wanted)})


@pytest.mark.spec("A page default", "A limits page_size default")
@every
async def test_envelope(endpoint: Endpoint, client: Client, path: str) -> None:
    page = await client.get(path)
    assert list(page) == ["data", "page", "pages", "results"]
    assert (page["page"], page["pages"]) == (1, 1)
    assert page["results"] == len(page["data"]) > 0
    assert await client.get(f"{path}?page=1&page_size=100") == page
    assert await client.get(f"{path}/?page_size=500&unknown=x") == page


@pytest.mark.spec("A page")
@every
async def test_pages(endpoint: Endpoint, client: Client, path: str) -> None:
    for query, problem in (
        ("page_size=24", ("page_size", "Must be 25-500")),
        ("page_size=501", ("page_size", "Must be 25-500")),
        ("page_size=x", ("page_size", "Must be 25-500")),
        ("page=0", ("page", "Must be 1 or greater")),
        ("page=1.5", ("page", "Must be an integer")),
        ("page=%00", ("page", "Must be an integer")),
    ):
        answer = await client.send("GET", f"{path}?{query}")
        assert (answer.status, answer.problems) == (400, [problem])
    assert (await client.send("GET", f"{path}?page=2")).status == 404
    assert await client.get(f"{path}?page={'9' * 40}") == await client.get(path)


@every
async def test_filters_that_are_none(endpoint: Endpoint, client: Client, path: str) -> None:
    for header in ("[]", '""', "1", "null", "{", "\xff"):
        answer = await client.send("GET", path, headers={"X-Filter": header})
        assert answer.problems == [("X-Filter", "Filter not valid JSON")]
    assert (await filtered(client, path, {})).status == 200
    assert (await client.send("GET", path, headers={"X-Filter": ""})).status == 200
    for wanted, reason in (
        ({"nonsense": 1}, "Cannot filter on nonsense"),
        ({"+order_by": "nonsense"}, "Cannot filter on nonsense"),
        ({"+and": [{"+or": [{"nonsense": 1}]}]}, "Cannot filter on nonsense"),
        ({"+xor": []}, "+xor is not valid here"),
        ({"+and": {}}, "+and must be an array"),
        ({"+or": [1]}, "A filter must be an object"),
    ):
        answer = await filtered(client, path, wanted)
        assert (answer.status, answer.problems) == (400, [("X-Filter", reason)])


@every
async def test_an_order_alone_turns_the_list(endpoint: Endpoint, client: Client, path: str) -> None:
    rows = (await client.get(path))["data"]
    orders = [(await filtered(client, path, {"+order": o})).body["data"] for o in ("asc", "desc")]
    assert rows in orders
    assert orders[0] == orders[1][::-1]


@every
async def test_what_shows_when_it_was_made_is_ordered_by_it(
    endpoint: Endpoint, client: Client, path: str
) -> None:
    """Clients ask for the newest of anything so."""
    first = (await client.get(path))["data"][0]
    answer = await filtered(client, path, {"+order_by": "created"})
    assert answer.status == (200 if "created" in first else 400)


@pytest.mark.parametrize(("endpoint", "name", "kind", "sortable"), COLUMNS)
async def test_columns(
    endpoint: Endpoint, name: str, kind: str, sortable: bool, client: Client, path: str
) -> None:
    everything = (await client.get(path))["results"]
    for value in (*RIGHT[kind], None):
        equal = (await filtered(client, path, {name: value})).body["results"]
        unequal = (await filtered(client, path, {name: {"+neq": value}})).body["results"]
        assert equal + unequal == everything
    for value in WRONG[kind]:
        answer = await filtered(client, path, {name: value})
        assert (answer.status, [field for field, _ in answer.problems]) == (400, ["X-Filter"])
    for order in ("asc", "desc"):
        answer = await filtered(client, path, {"+order_by": name, "+order": order})
        assert answer.status == (200 if sortable else 400)


@every
@pytest.mark.spec("A service timestamps")
async def test_timestamps_have_no_zone(endpoint: Endpoint, client: Client, path: str) -> None:
    rows = (await client.get(path))["data"]
    values = [value for row in rows for key, value in leaves(row) if key in TIMES]
    values = [value for value in values if not CARD_EXPIRY.fullmatch(value or "")]
    assert all(value is None or TIMESTAMP.fullmatch(value) for value in values)
    assert isinstance(endpoint.returns, Page)
    declared = json.dumps(TypeAdapter(endpoint.returns.row).json_schema())
    # Some rows hold records of any kind.
    if "JsonValue" not in declared and '"additionalProperties": true' not in declared:
        assert bool(values) == any(f'"{key}"' in declared for key in TIMES)


def leaves(value: Json, key: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from leaves(child, name)
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, key)
    else:
        yield key, value


@every
async def test_a_value_finds_its_rows(endpoint: Endpoint, client: Client, path: str) -> None:
    """Each filterable field of the first row finds that row."""
    first = (await client.get(path))["data"][0]
    for name in endpoint.filters:
        value = first
        for part in name.split("."):
            value = None if value is None else value[part]
        if isinstance(value, list):
            if not value:
                continue
            value = value[0]
        page = (await filtered(client, path, {name: value})).body
        assert first in page["data"], name
