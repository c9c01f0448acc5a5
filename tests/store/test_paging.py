"""Lists of 100 000 rows: right on every page, and served by indexes."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from roost.errors import ApiError
from roost.settings import Settings
from roost.store import Queries, Store
from roost.store.conditions import AnyOf, Compare
from roost.store.paging import (
    Column,
    Listing,
    ListStatement,
    Selection,
    fetch_page,
    fetch_record,
)
from tests.support.database import DatabaseServer

ROWS = 100_000
OWNER = 1

THINGS = Listing(
    record="t.id, t.label, t.made",
    source="paging_thing t",
    scope="t.account_id = $1",
    key="t.id",
    columns={
        "id": Column("t.id", "int"),
        "label": Column("t.label", "text"),
        "tags": Column("t.tags", "texts"),
    },
)
EVERYTHING = Selection()
NEWEST_FIRST = replace(THINGS, descending=True)


TABLE = """
create table paging_thing (
    id bigint primary key, account_id bigint, label text, tags text[], made timestamp(0), note text
);
insert into paging_thing
    select n, case when n <= 100000 then 1 else 2 end, 'thing' || n, array['tag' || n % 1000],
        timestamp '2024-01-02 03:04:05', repeat('x', 300)
    from generate_series(1, 100030) n;
create unique index on paging_thing (account_id, id);
create index on paging_thing (account_id, label);
create index on paging_thing using gin (tags);
"""


@pytest.fixture(scope="module")
async def things(database_server: DatabaseServer) -> AsyncIterator[Store]:
    async with database_server.database() as url:
        store = await Store.open(Settings(database_url=url))
        await store.execute(TABLE)
        # The test server commits without waiting for its log, and vacuum marks only pages
        # as visible to all whose log is on disk.
        await store.execute("checkpoint")
        await store.execute("vacuum analyze paging_thing")
        yield store
        await store.close()


async def ids(
    db: Queries,
    page: int,
    size: int = 100,
    selection: Selection = EVERYTHING,
    listing: Listing = THINGS,
    account: int = OWNER,
) -> tuple[list[int], int, int, int]:
    """The ids of a page and the envelope's page, pages and results."""
    body = json.loads(await fetch_page(db, listing, (account,), selection, page, size))
    found = [record["id"] for record in body["data"]]
    return found, body["page"], body["pages"], body["results"]


async def test_the_envelope_is_json_with_records_as_they_are(things: Store) -> None:
    body = await fetch_page(things, THINGS, (2,), Selection(limit=1), 1, 25)
    assert json.loads(body) == {
        "data": [{"id": ROWS + 1, "label": f"thing{ROWS + 1}", "made": "2024-01-02T03:04:05"}],
        "page": 1,
        "pages": 1,
        "results": 1,
    }


async def test_an_empty_list_has_one_page(things: Store) -> None:
    assert await ids(things, 1, account=3) == ([], 1, 1, 0)


@pytest.mark.parametrize("page", [1, 2, 499, 500, 501, 502, 999, 1000])
async def test_every_page_holds_its_rows(things: Store, page: int) -> None:
    first = (page - 1) * 100 + 1
    assert await ids(things, page) == (list(range(first, first + 100)), page, 1000, ROWS)


@pytest.mark.parametrize("page", [1, 2, 600, 1000])
async def test_newest_first(things: Store, page: int) -> None:
    first = ROWS - (page - 1) * 100
    found, *_ = await ids(things, page, listing=NEWEST_FIRST)
    assert found == list(range(first, first - 100, -1))


async def test_the_last_page_may_be_short(things: Store) -> None:
    assert await ids(things, 2, 25, account=2) == ([ROWS + n for n in range(26, 31)], 2, 2, 30)
    found, *_ = await ids(things, 334, 300)
    assert found == list(range(99_901, 100_001))


@pytest.mark.parametrize("page", [1001, 2**40, 2**56])
async def test_a_page_after_the_last_is_not_found(things: Store, page: int) -> None:
    with pytest.raises(ApiError) as refusal:
        await ids(things, page)
    assert refusal.value.status == 404


@pytest.mark.parametrize("page", [2**64, 10**30])
async def test_an_absurd_page_is_the_last_one(things: Store, page: int) -> None:
    assert (await ids(things, page, 500))[1:] == (200, 200, ROWS)


@pytest.mark.parametrize(
    ("limit", "page", "wanted"),
    [
        (10, 1, (list(range(1, 11)), 1, 1, 10)),
        (130, 2, (list(range(101, 131)), 2, 2, 130)),
        (10**9, 1000, (list(range(99_901, 100_001)), 1000, 1000, ROWS)),
    ],
)
async def test_a_limit_caps_results(
    things: Store, limit: int, page: int, wanted: tuple[list[int], int, int, int]
) -> None:
    assert await ids(things, page, selection=Selection(limit=limit)) == wanted


async def test_one_record(things: Store) -> None:
    record = json.loads(await fetch_record(things, THINGS, (OWNER,), 5))
    assert record == {"id": 5, "label": "thing5", "made": "2024-01-02T03:04:05"}
    for missing in (0, ROWS + 1):
        with pytest.raises(ApiError) as refusal:
            await fetch_record(things, THINGS, (OWNER,), missing)
        assert refusal.value.status == 404


def label(value: str) -> Compare:
    return Compare(THINGS.columns["label"], "=", value)


@pytest.mark.parametrize(
    "selection",
    [
        Selection(label("thing7")),
        Selection(AnyOf((label("thing7"), label("thing8")))),
        Selection(Compare(THINGS.columns["id"], "=", 7)),
        Selection(Compare(THINGS.columns["tags"], "=", "tag7")),
        Selection(order_by=THINGS.columns["label"]),
        Selection(),
    ],
)
@pytest.mark.parametrize("offset", [0, 50, 70_000])
async def test_an_index_serves_it(things: Store, selection: Selection, offset: int) -> None:
    sql, arguments = ListStatement(THINGS, (OWNER,), selection).page(offset, 100)
    plan = "\n".join(row[0] for row in await things.fetch(f"explain {sql}", *arguments))
    assert "Seq Scan" not in plan, plan


async def test_a_deep_page_costs_no_more_than_ten_first_pages(things: Store) -> None:
    async def best(page: int) -> float:
        seconds = []
        for _ in range(7):
            start = time.perf_counter()
            await ids(things, page)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    first = await best(1)
    for page in (500, 1000):
        assert await best(page) < 10 * first


async def test_text_that_people_chose_is_ordered_as_they_read_it(store: Store) -> None:
    """Whatever the server's own order is; what differs in case only comes by id."""
    await store.execute(
        "create temp table word as select * from unnest("
        "array['b', 'A10', 'Ä', 'a1', 'B', '_x', 'zebra', 'Ubuntu', 'openSUSE'])"
        " with ordinality as w (label, id)"
    )
    column = Column("w.label", "text", folds=True)
    words = Listing("w.id, w.label", "word w", "true", "w.id", {"label": column})
    for descending, sign in ((False, 1), (True, -1)):
        selection = Selection(order_by=column, descending=descending)
        body = json.loads(await fetch_page(store, words, (), selection, 1, 100))
        ordered = ["_x", "a1", "A10", "b", "B", "openSUSE", "Ubuntu", "zebra", "Ä"]
        assert [row["label"] for row in body["data"]] == ordered[::sign]
