"""What is charged for beside instances, volumes and databases, and who pays for children."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.billing.charges import month_start
from roost.core.catalog import Catalog
from roost.resources.account.queries import set_parent_pays
from roost.resources.billing.service import differences, invoice_all, note_use
from roost.resources.compute.network_engine import Traffic
from roost.resources.images import queries as images
from roost.resources.object_storage import usage_queries as objects
from roost.resources.usage.service import note
from roost.store import Queries
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client, Json, until
from tests.support.families import adopt
from tests.support.instances import INSTANCES, made
from tests.support.invoices import INVOICES, invoiced
from tests.support.object_storage import made_bucket, path_of
from tests.support.usage import RESTED, as_old_as_the_month, read_in_month

GB = 10**9
PER_GB, _OWN_PRICE = Decimal("0.005"), Decimal("0.007")


async def rows_of(db: Queries, account: Account, service: str) -> list[tuple[object, ...]]:
    rows = await db.fetch(
        """
        select quantity, hourly, monthly from ledger where account_id = $1 and service = $2
        order by id
        """,
        account.id,
        service,
    )
    return [tuple(row) for row in rows]


async def test_further_addresses(client: Client, roost: Roost, account: Account) -> None:
    """The first public one comes with its instance, private ones are free."""
    path = f"{INSTANCES}/{(await made(client))['id']}"
    assert await rows_of(roost.store, account, "ip_v4") == []
    address = (await client.post(f"{path}/ips", {"type": "ipv4", "public": True}))["address"]
    await client.post(f"{path}/ips", {"type": "ipv4", "public": False})
    price = (Decimal("0.003"), Decimal("2.0"))
    assert await rows_of(roost.store, account, "ip_v4") == [(1, *price)]
    await client.send("DELETE", f"{path}/ips/{address}")
    assert await rows_of(roost.store, account, "ip_v4") == [(1, *price), (1, None, None)]


async def test_an_address_that_moves(client: Client, roost: Roost, account: Account) -> None:
    """Who has two of them pays for one, and an instance that is gone has none."""
    one, other = await made(client), await made(client)
    path = f"{INSTANCES}/{one['id']}"
    address = (await client.post(f"{path}/ips", {"type": "ipv4", "public": True}))["address"]
    moved = {"address": address, "compute_id": other["id"]}
    await client.post("/networking/ips/assign", {"region": "us-lake", "assignments": [moved]})
    sql = """
        select resource_id, hourly is not null as charged from ledger
        where account_id = $1 and service = 'ip_v4' order by id
        """
    found = {tuple(row) for row in await roost.store.fetch(sql, account.id)}
    assert found == {(one["id"], True), (one["id"], False), (other["id"], True)}
    await client.send("DELETE", f"{INSTANCES}/{other['id']}")

    async def last() -> Json:
        return (await rows_of(roost.store, account, "ip_v4"))[-1]

    assert await until(last, lambda row: row[1] is None) == (1, None, None)


async def test_images_beyond_what_is_free(client: Client, roost: Roost, account: Account) -> None:
    """25 GiB of an account are free."""
    path = f"{INSTANCES}/{(await made(client))['id']}"
    (disk, *_) = (await client.get(f"{path}/disks"))["data"]
    image = await client.post("/images", {"disk_id": disk["id"], "label": "mine"})
    number = int(image["id"].rpartition("/")[2])

    async def state() -> Json:
        return (await client.get(f"/images/{image['id']}"))["status"]

    await until(state, lambda status: status == "available")
    assert await rows_of(roost.store, account, "image") == []
    async with roost.store.transaction() as db:
        await images.set_available(db, number, 40 * 1024 + 1, roost.clock.now())
    price = (Decimal("0.00015"), Decimal("0.1"))
    assert await rows_of(roost.store, account, "image") == [(15, *price)]
    await client.send("DELETE", f"/images/{image['id']}")
    assert await rows_of(roost.store, account, "image") == [(15, *price), (15, None, None)]


async def test_what_buckets_hold(client: Client, roost: Roost, account: Account) -> None:
    """Whole GB, as they were counted last."""
    bucket = await made_bucket(client)
    sql = "select id from object_bucket where account_id = $1"
    bucket_id = await roost.store.fetchval(sql, account.id)
    price = (Decimal("0.00003"), Decimal("0.02"))
    async with roost.store.transaction() as db:  # Nothing is counted meanwhile.
        for size in (GB - 1, 3 * GB + 5, 3 * GB + 7):
            await objects.set_usage(db, bucket_id, 1, size, roost.clock.now())
        assert await rows_of(db, account, "objectstorage") == [(3, *price)]
    await client.send("DELETE", path_of(bucket))
    assert (await rows_of(roost.store, account, "objectstorage"))[-1] == (3, None, None)


async def _sent(roost: Roost, compute_id: int, gigabytes: int, at: datetime) -> None:
    sent = replace(RESTED, traffic=Traffic("first", ipv4_out=gigabytes * GB))
    await note(roost.store, {compute_id: sent}, at)


async def test_transfer_beyond_the_pool(client: Client, roost: Roost, account: Account) -> None:
    """Each hour brings what came, and takes back what a new instance has room for."""
    row, now = await made(client), read_in_month(roost.clock.now())
    quota = (await client.get("/account/transfer"))["quota"]
    await _sent(roost, row["id"], quota + 30, now)
    assert (await client.get("/account/transfer"))["billable"] == 30
    before = (await client.get("/account"))["balance_uninvoiced"]
    for _ in range(2):
        await note_use(roost.store, roost.services, roost.clock.now())
    assert await rows_of(roost.store, account, "transfer") == [(30, None, PER_GB)]
    after = (await client.get("/account"))["balance_uninvoiced"]
    assert round(after - before, 2) == 0.15
    await made(client)
    room = (await client.get("/account/transfer"))["quota"] - quota
    await note_use(roost.store, roost.services, roost.clock.now())
    back = min(30, room)
    assert await rows_of(roost.store, account, "transfer") == [
        (30, None, PER_GB),
        *([(-back, None, PER_GB)] if back else []),
    ]


@pytest.fixture
async def own_pool(roost: Roost, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """A region that has one, with a price of its own."""
    catalog, region = roost.services.get(Catalog), "br-south"
    regions = [
        each.model_copy(update={"transfer_pool": "own" if each.id == region else "shared"})
        for each in catalog.regions
    ]
    changed = catalog.entries.model_copy(update={"regions": regions})
    monkeypatch.setattr(catalog, "entries", changed)
    sql = "update unit_price set region_prices = $1::text::json where service = 'transfer'"
    price = {"id": region, "hourly": 0, "monthly": float(_OWN_PRICE)}
    await roost.store.execute(sql, json.dumps([price]))
    yield region
    await roost.store.execute(sql, "[]")


async def test_a_region_with_its_own_pool(
    client: Client, roost: Roost, account: Account, own_pool: str
) -> None:
    """It has no part in the room of the others, and what was sent from there stays its own."""
    row, now = await made(client, region=own_pool), read_in_month(roost.clock.now())
    await as_old_as_the_month(roost, row["id"], (await made(client))["id"])
    (own,) = (await client.get("/account/transfer"))["region_transfers"]
    assert (own["id"], own["used"], own["billable"]) == (own_pool, 0, 0)
    await _sent(roost, row["id"], own["quota"] + 30, now)
    assert (await client.get(f"{INSTANCES}/{row['id']}/transfer"))["billable"] == 30
    sql = "update compute_instance set region = 'us-lake' where id = $1"
    await roost.store.execute(sql, row["id"])
    await _sent(roost, row["id"], own["quota"] + 31, now + timedelta(minutes=5))
    pool = await client.get("/account/transfer")
    assert (pool["used"], pool["billable"]) == (1, 0)
    spent = {"used": own["quota"] + 30, "billable": 30}
    assert pool["region_transfers"] == [{**own, **spent}]
    sent = (await client.get(f"{INSTANCES}/{row['id']}/transfer"))["used"]
    assert sent == (own["quota"] + 31) * GB
    await note_use(roost.store, roost.services, roost.clock.now())
    assert await rows_of(roost.store, account, "transfer") == [(30, None, _OWN_PRICE)]


async def test_an_invoice_of_transfer(client: Client, roost: Roost, account: Account) -> None:
    """An instance that is gone by then has given its share of the pool, too."""
    ends = month_start(roost.clock.now())
    starts = month_start(ends - timedelta(days=1))
    store, middle = roost.store, starts + (ends - starts) / 2
    await store.execute("update account set created = $2 where id = $1", account.id, starts)
    plan = "g1-nano-1"
    for at, price in ((starts, "0"), (middle, None)):
        await store.execute(
            """
            insert into ledger (account_id, service, resource_id, at, label, plan, region,
                quantity, hourly, monthly, tags)
            values ($1, 'compute', -$1::bigint, $2, 'web', $3, 'us-lake', 1, $4::text::numeric,
                $4::text::numeric, '{}')
            """,
            *(account.id, at, plan, price),
        )
    await store.execute(
        """
        insert into usage_month (month, account_id, compute_id, region, bytes_in, bytes_out)
        values ($1, $2, -$2::bigint, 'us-lake', 0, $3)
        """,
        *(starts.date(), account.id, 1500 * GB),
    )
    await invoice_all(store, roost.services, ends)
    (invoice,) = (await client.get(INVOICES))["data"]
    _, item = (await client.get(f"{INVOICES}/{invoice['id']}/items"))["data"]
    transfer = await store.fetchval("select transfer from compute_type where id = $1", plan)
    beyond = 1500 - transfer // 2
    assert (item["type"], item["quantity"], item["unit_price"]) == ("misc", beyond, "0.005")
    assert item["label"] == f"Transfer - GB beyond the pool ({account.id})"
    assert item["amount"] == invoice["total"] == float(round(beyond * PER_GB, 2))
    mine = f"account {account.id}"
    assert not [text async for text in differences(store) if mine in text]


async def test_a_parent_that_pays(
    client: Client,
    roost: Roost,
    account: Account,
    new_account: NewAccount,
    new_token: NewToken,
    nobody: Client,
) -> None:
    """The child keeps its invoice, its parent owes it."""
    child = await new_account()
    await adopt(roost, child.id, account.id)
    assert not await set_parent_pays(roost.store, account.id, parent_pays=True)
    assert await set_parent_pays(roost.store, child.id, parent_pays=True)
    invoice_id = await invoiced(roost, child.id)
    theirs = nobody.as_user(await new_token(child))
    row = await theirs.get(f"{INVOICES}/{invoice_id}")
    assert (row["total"], row["billing_source"]) == (0.07, "external")
    assert (await theirs.get("/account"))["balance"] == 0
    assert (await client.get("/account"))["balance"] == 0.07
    assert (await client.get(INVOICES))["data"] == []
    both = (f"account {child.id}", f"account {account.id}")
    found = [text async for text in differences(roost.store)]
    assert not [text for text in found if any(name in text for name in both)]
