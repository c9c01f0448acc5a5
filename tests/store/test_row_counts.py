"""The numbers of rows that triggers keep are those of the rows, whatever happens to them."""

import asyncio
import json
import random

import pytest

from roost.core.entities.queries import fold_counts
from roost.core.grant_queries import only_granted
from roost.resources.tags.queries import tagged_listing
from roost.resources.volumes.queries import VOLUME, VOLUMES, VOLUMES_OF_INSTANCE
from roost.store import Queries, Store
from roost.store.paging import Listing, Selection, fetch_page
from tests.support.blocking import BLOCKED

OWNERS = (1, 2)
TAGS = ("red", "blue", "old")

MAKE = """
    insert into volume (account_id, label, region, engine, size, status, hardware_type, tags,
        created, updated)
    values ($1, gen_random_uuid(), 'us-lake', 'simulated', 20, 'active', 'nvme', $2, now(), now())
"""
MAKE_USER = """
    insert into api_user (account_id, username, restricted, created)
    values (1, 'me', true, now()) returning id
"""
GRANT = """
    insert into entity_grant (user_id, kind, entity_id, permissions)
    values ($1, 'volume', $2, 'read_only')
"""
ANY_OF = "id in (select id from volume where account_id = $1 order by random() limit 3)"
KEPT = """
    select owner, label, sum(amount)::bigint as number from row_count where kind = 'volume'
    group by owner, label having sum(amount) <> 0
"""
REAL = """
    select account_id as owner, '' as label, count(*) as number from volume group by account_id
    union all
    select account_id, tag, count(distinct id) from volume, unnest(tags) as tag
    group by account_id, tag
"""

Counts = dict[tuple[int, str], int]


@pytest.fixture
async def owned(store: Store) -> Store:
    for number in OWNERS:
        await store.execute(
            "insert into account (id, euuid, created) overriding system value"
            " values ($1, gen_random_uuid(), now())",
            number,
        )
    return store


async def counts(db: Queries, sql: str) -> Counts:
    return {(row["owner"], row["label"]): row["number"] for row in await db.fetch(sql)}


async def change(db: Queries, chance: random.Random) -> None:
    """Something that Roost does with rows; tags may be there twice."""
    owner, tags = chance.choice(OWNERS), chance.choices(TAGS, k=chance.randrange(4))
    match chance.randrange(5):
        case 0 | 1:
            await db.execute(MAKE, owner, tags)
        case 2:
            await db.execute(f"update volume set tags = $2 where {ANY_OF}", owner, tags)
        case 3:
            await db.execute(f"update volume set size = size + 1 where {ANY_OF}", owner)
        case _:
            await db.execute(f"delete from volume where {ANY_OF}", owner)


async def test_counts_are_right_after_any_changes(owned: Store) -> None:
    chance = random.Random(22)
    for number in range(300):
        await change(owned, chance)
        if number % 50 == 0:
            await fold_counts(owned)
        assert await counts(owned, KEPT) == await counts(owned, REAL)
    await fold_counts(owned)
    assert await counts(owned, KEPT) == await counts(owned, REAL)
    assert await owned.fetchval("select count(*) from row_count") == len(await counts(owned, REAL))
    await owned.execute("truncate volume cascade")
    assert await counts(owned, KEPT) == {}


async def test_counts_are_right_in_every_snapshot_while_others_write_and_fold(
    owned: Store,
) -> None:
    """Also when a change is undone; nobody waits for another, so that nothing can deadlock."""

    async def write(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(40):
            async with owned.transaction() as db:
                await db.execute(MAKE, chance.choice(OWNERS), [chance.choice(TAGS)])
                if chance.random() < 0.3:
                    await db.execute("savepoint before")
                    await change(db, chance)
                    await db.execute("rollback to savepoint before")

    async def fold() -> None:
        while not writers.done():
            await asyncio.gather(fold_counts(owned), fold_counts(owned))
            kept_and_real = f"select 1 as owner, label, number from (({KEPT}) except ({REAL})) as x"
            assert await counts(owned, kept_and_real) == {}

    writers = asyncio.gather(*(write(seed) for seed in range(4)))
    await asyncio.gather(writers, fold())
    kept = await counts(owned, KEPT)
    assert kept == await counts(owned, REAL)
    assert sum(kept[owner, ""] for owner in OWNERS) == 160


async def test_results_are_the_rows_that_a_list_shows(owned: Store) -> None:
    """Not those that a job deletes."""
    for tags in (["red"], ["red", "blue"], ["red"], []):
        await owned.execute(MAKE, 1, tags)
    await owned.execute(MAKE, 2, ["red"])
    user = await owned.fetchval(MAKE_USER)
    ids = [row["id"] for row in await owned.fetch("select id from volume order by id")]
    for granted in (ids[0], ids[1]):
        await owned.execute(GRANT, user, granted)
    await owned.execute("update volume set deleting = true where id = $1", ids[1])

    async def shown(listing: Listing, *scope: object) -> int:
        for size in (1, 25):
            page = json.loads(await fetch_page(owned, listing, scope, Selection(), 1, size))
            assert len(page["data"]) == min(size, page["results"])
        results: int = page["results"]
        return results

    assert await shown(VOLUMES, 1) == 3
    assert await shown(VOLUMES, 3) == 0
    assert await shown(VOLUMES_OF_INSTANCE, 1, 7) == 0
    assert await shown(only_granted(VOLUMES, 2), 1, user) == 1
    assert await shown(tagged_listing((VOLUME,)), 1, "red") == 2
    assert await shown(tagged_listing((VOLUME,)), 1, "blue") == 0


async def test_no_grant_outlives_what_it_is_about(owned: Store) -> None:
    """Who gives one holds the row first; who deletes the row then takes the grant with it."""
    await owned.execute(MAKE, 1, [])
    volume = await owned.fetchval("select id from volume")
    user = await owned.fetchval(MAKE_USER)
    async with owned.transaction() as giver:
        await giver.execute("select from volume where id = $1 for key share", volume)
        deleting = asyncio.create_task(owned.execute("delete from volume"))
        while not await owned.fetchval(BLOCKED):
            assert not deleting.done()
        await giver.execute(GRANT, user, volume)
    await deleting
    assert await owned.fetchval("select count(*) from entity_grant") == 0
    granted = "select sum(amount) from row_count where kind = 'granted volume'"
    assert await owned.fetchval(granted) == 0
