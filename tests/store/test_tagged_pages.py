"""What has a tag, of two kinds: 100,000 rows, right on every page, and fast at their ends."""

import json
from collections.abc import AsyncIterator

import pytest

from roost.core.entities.kind import ResourceKind
from roost.core.entities.queries import fold_counts
from roost.errors import ApiError
from roost.resources.tags import queries
from roost.settings import Settings
from roost.store import Queries, Store
from roost.store.conditions import Compare, Operator, Value
from roost.store.paging import Column, Counted, Listing, Selection, fetch_page
from tests.support.database import DatabaseServer

pytestmark = pytest.mark.spec("B tags view")

OWNER, OTHER = 1, 2
EACH = 50_000
TABLE = """
create table {name} (
    id bigint primary key, account_id bigint, tags text[], note text,
    deleting boolean default false);
create trigger count_row after insert or delete on {name}
    for each row execute function count_row('{name}');
create trigger count_tags after update of tags on {name}
    for each row execute function count_tags('{name}');
insert into {name}
    select n, case when n <= 50000 then 1 else 2 end,
        array['gold'] || case when n % 1000 = 0 then array['rare'] else '{{}}' end,
        repeat('x', 300)
    from generate_series(1, 51000) n;
insert into {name}
    select 60000 + n, 1, array['gold', 'rare'], '', true from generate_series(1, 10) n;
create unique index on {name} (account_id, id);
create index on {name} using gin (tags);
"""

ROWS_READ = """
select coalesce(sum(pg_stat_get_xact_tuples_returned(oid)
    + pg_stat_get_xact_tuples_fetched(oid)), 0)::bigint
from pg_class where relname ~ '^(widget|gadget)'
"""
"""Of tables and indexes, by this connection lately."""

Found = list[tuple[str, int]]


FEW = """
create table trinket (id bigint primary key, account_id bigint, tags text[], deleting boolean);
insert into trinket select n, 1, '{gold}', n > 5 from generate_series(1, 6) n;
"""
"""Whose number nobody keeps."""


def kind(name: str, *, counted: bool = True) -> ResourceKind:
    listing = Listing(
        record=f"x.id, '{name} ' || x.id as label",
        source=f"{name} x",
        scope="x.account_id = $1 and not x.deleting",
        key="x.id",
        columns={"tags": Column("x.tags", "texts")},
        counted=Counted(f"'{name}'", hidden="x.account_id = $1 and x.deleting")
        if counted
        else None,
    )
    path = f"/{name}s/{{id}}"
    return ResourceKind(name=name, path=path, listing=listing, label="x.id", tags_table=name)


KINDS = (kind("widget"), kind("gadget"))
MORE = (*KINDS, kind("trinket", counted=False))
ALL: Found = [(name, n) for name in ("gadget", "widget") for n in range(1, EACH + 1)]
RARE: Found = [(name, n) for name, n in ALL if n % 1000 == 0]


@pytest.fixture(scope="module")
async def tagged(database_server: DatabaseServer) -> AsyncIterator[Store]:
    async with database_server.database() as url:
        store = await Store.open(Settings(database_url=url))
        for each in KINDS:
            await store.execute(TABLE.format(name=each.name))
            await store.execute(f"vacuum analyze {each.name}")
        await store.execute(FEW)
        await fold_counts(store)
        await store.execute("vacuum analyze row_count")
        yield store
        await store.close()


async def page(
    db: Queries,
    number: int,
    label: str = "gold",
    selection: Selection = Selection(),  # noqa: B008
    size: int = 100,
    account: int = OWNER,
    kinds: tuple[ResourceKind, ...] = KINDS,
) -> tuple[Found, int]:
    """The types and ids of a page, and the results of all."""
    scope = account, label
    text = await fetch_page(db, queries.tagged_listing(kinds), scope, selection, number, size)
    body = json.loads(text)
    for row in body["data"]:
        assert row["data"] == {
            "id": row["data"]["id"],
            "label": f"{row['type']} {row['data']['id']}",
        }
    return [(row["type"], row["data"]["id"]) for row in body["data"]], body["results"]


def where(field: str, operator: Operator, value: Value) -> Selection:
    return Selection(Compare(queries.FILTERS[field], operator, value))


@pytest.mark.parametrize("number", [1, 2, 250, 500, 501, 750, 1000])
async def test_every_page_holds_its_rows(tagged: Store, number: int) -> None:
    wanted = ALL[(number - 1) * 100 : number * 100]
    assert await page(tagged, number) == (wanted, 2 * EACH)


async def test_a_page_across_kinds(tagged: Store) -> None:
    assert await page(tagged, 167, size=300) == (ALL[49_800:50_100], 2 * EACH)


async def test_pages_that_are_not_there(tagged: Store) -> None:
    assert await page(tagged, 2**65, size=500) == (ALL[-500:], 2 * EACH)
    for number in (1001, 2**50):
        with pytest.raises(ApiError) as refusal:
            await page(tagged, number)
        assert refusal.value.status == 404
    assert await page(tagged, 1, account=3) == ([], 0)
    assert await page(tagged, 1, label="none") == ([], 0)


async def test_rows_of_other_accounts(tagged: Store) -> None:
    assert await page(tagged, 1, "rare", account=OTHER) == (
        [("gadget", 51000), ("widget", 51000)],
        2,
    )


@pytest.mark.spec("B filter")
@pytest.mark.parametrize(
    ("selection", "wanted"),
    [
        (where("type", "=", "widget"), RARE[50:]),
        (where("type", "<>", "widget"), RARE[:50]),
        (where("type", "=", "none"), []),
        (where("data.id", "=", 7000), [("gadget", 7000), ("widget", 7000)]),
        (where("data.id", ">", 49_000), [("gadget", 50_000), ("widget", 50_000)]),
        (where("data.tags", "=", "gold"), RARE),
        (where("data.tags", "=", "blue"), []),
        (Selection(order_by=queries.FILTERS["type"], descending=True), RARE[::-1]),
        (Selection(order_by=queries.FILTERS["data.id"]), sorted(RARE, key=lambda row: row[::-1])),
        (
            Selection(order_by=queries.FILTERS["data.id"], descending=True),
            sorted(RARE, key=lambda row: row[::-1], reverse=True),
        ),
        (Selection(limit=7), RARE[:7]),
    ],
)
async def test_selections(tagged: Store, selection: Selection, wanted: Found) -> None:
    assert await page(tagged, 1, "rare", selection) == (wanted, len(wanted))
    if len(wanted) > 25:
        assert await page(tagged, 2, "rare", selection, size=25) == (wanted[25:50], len(wanted))


async def test_pages_at_an_end_of_a_kind_read_about_as_much_as_the_first(tagged: Store) -> None:
    read = dict.fromkeys((1, 500, 501, 1000), 0)
    for number in read:
        async with tagged.transaction() as db:
            before = await db.fetchval(ROWS_READ)
            await page(db, number)
            read[number] = await db.fetchval(ROWS_READ) - before
    assert 0 < max(read.values()) < 3 * read[1], read


async def test_a_kind_whose_rows_are_not_counted_is_a_part_like_the_others(tagged: Store) -> None:
    """Else each page would gather what has the tag of all kinds."""
    trinkets = [("trinket", n) for n in range(1, 6)]
    wanted = trinkets + ALL[EACH : EACH + 95]
    assert await page(tagged, 501, kinds=MORE) == (wanted, 2 * EACH + len(trinkets))
    assert len(queries.tagged_listing(MORE).parts) == len(MORE)


async def test_a_tag_is_taken_off_everything(tagged: Store) -> None:
    async with tagged.transaction() as db:
        for each in KINDS:
            await queries.remove(db, each, OTHER, "gold")
    assert await page(tagged, 1, account=OTHER) == ([], 0)
    assert await page(tagged, 1, "rare", account=OTHER) == (
        [("gadget", 51000), ("widget", 51000)],
        2,
    )
    assert (await page(tagged, 1))[1] == 2 * EACH
