"""The ledger and invoices over HTTP (spec B account)."""

from decimal import Decimal

import asyncpg
import pytest

from roost.app.roost import Roost
from roost.core.billing.charges import month_start
from roost.core.billing.ledger import Billables, record_all
from roost.resources.billing.service import differences, invoice_all, note_prices
from tests.api.conftest import Account
from tests.support.client import Client
from tests.support.instances import INSTANCES, create_body
from tests.support.invoices import INVOICES, invoiced
from tests.support.volumes import rested

LEDGER = """
select service, plan, region, quantity, hourly, monthly from ledger
where account_id = $1 order by id
"""


async def ledger(roost: Roost, account: Account) -> list[tuple[object, ...]]:
    return [tuple(row) for row in await roost.store.fetch(LEDGER, account.id)]


@pytest.mark.spec("B invoices list", "B invoices view", "B invoices items")
async def test_invoice(client: Client, stranger: Client, roost: Roost, account: Account) -> None:
    invoice_id = await invoiced(roost, account.id)
    month = month_start(roost.clock.now())
    row = await client.get(f"{INVOICES}/{invoice_id}")
    assert row == {
        "id": invoice_id,
        "date": month.isoformat(),
        "label": f"Invoice #{invoice_id}",
        "subtotal": 0.07,
        "tax": 0,
        "total": 0.07,
        "tax_summary": [],
        "billing_source": "platform",
    }
    assert (await client.get(INVOICES))["data"] == [row]
    (item,) = (await client.get(f"{INVOICES}/{invoice_id}/items"))["data"]
    assert item == {
        "label": f"Volume - data ({-account.id})",
        "type": "hourly",
        "quantity": 24,
        "unit_price": "0.00300",
        "from": item["from"],
        "to": item["to"],
        "region": "us-lake",
        "amount": 0.07,
        "tax": 0,
        "total": 0.07,
    }
    assert (await client.get("/account"))["balance"] == 0.07
    for path in (f"{INVOICES}/{invoice_id}", f"{INVOICES}/{invoice_id}/items"):
        assert (await stranger.send("GET", path)).status == 404


async def test_no_month_is_invoiced_twice(client: Client, roost: Roost, account: Account) -> None:
    await invoiced(roost, account.id)
    await invoice_all(roost.store, roost.services, roost.clock.now())
    assert (await client.get(INVOICES))["results"] == 1


@pytest.mark.spec("A volumes 3", "A volumes charges")
async def test_what_a_volume_costs(client: Client, roost: Roost, account: Account) -> None:
    body = {"label": "data", "region": "us-lake", "size": 20, "tags": ["blue"]}
    volume = await client.post("/volumes", body)
    price = (Decimal("0.00015"), Decimal("0.1"))
    assert await ledger(roost, account) == [("blockstorage", "", "us-lake", 20, *price)]
    assert (await client.get("/account"))["balance_uninvoiced"] == 0  # 0.3 cents
    await rested(client, volume["id"])
    await client.post(f"/volumes/{volume['id']}/resize", {"size": 40})
    await rested(client, volume["id"])
    clone = await client.post(f"/volumes/{volume['id']}/clone", {"label": "copy"})
    await rested(client, clone["id"])
    await client.send("DELETE", f"/volumes/{volume['id']}")
    assert await ledger(roost, account) == [
        ("blockstorage", "", "us-lake", 20, *price),
        ("blockstorage", "", "us-lake", 40, *price),
        ("blockstorage", "", "us-lake", 40, *price),
        ("blockstorage", "", "us-lake", 40, None, None),
    ]


@pytest.mark.spec("B compute 1 charges", "B compute create backups charge")
async def test_what_an_instance_costs(client: Client, roost: Roost, account: Account) -> None:
    body = create_body(region="br-south", backups_enabled=True)
    instance = await client.post(INSTANCES, body)
    plan, region = instance["type"], instance["region"]
    rows = await ledger(roost, account)
    assert [row[:4] for row in rows] == [
        ("compute", plan, region, 1),
        ("backup", plan, region, 1),
    ]
    shown = await client.get(f"/compute/types/{plan}")
    for row, priced in zip(rows, (shown, shown["addons"]["backups"]), strict=True):
        own = [each for each in priced["region_prices"] if each["id"] == region]
        price = own[0] if own else priced["price"]
        assert row[4:] == (Decimal(str(price["hourly"])), Decimal(str(price["monthly"])))
    used = sum(Decimal(str(row[4])) for row in rows)
    assert (await client.get("/account"))["balance_uninvoiced"] == pytest.approx(
        float(used), abs=0.01
    )


async def test_nothing_is_noted_where_nothing_changed(
    client: Client, roost: Roost, account: Account
) -> None:
    await client.post("/volumes", {"label": "data", "region": "us-lake", "size": 20})
    before = await ledger(roost, account)
    await note_prices(roost.store, roost.services, roost.clock.now())
    assert await ledger(roost, account) == before


async def test_a_new_price_holds_from_now_on(
    client: Client, roost: Roost, account: Account
) -> None:
    await client.post("/volumes", {"label": "data", "region": "us-lake", "size": 20})
    billable = roost.services.get(Billables).by_service["blockstorage"]
    async with roost.store.transaction() as db:
        priced = "update unit_price set price = $1::text::json where service = 'blockstorage'"
        await db.execute(priced, '{"hourly": 0.1, "monthly": 7}')
        await record_all(db, billable, roost.clock.now())
        sql = "select hourly from ledger where account_id = $1 order by id"
        prices = [row["hourly"] for row in await db.fetch(sql, account.id)]
        await db.execute(priced, '{"hourly": 0.00015, "monthly": 0.1}')
        await record_all(db, billable, roost.clock.now())
    assert prices == [Decimal("0.00015"), Decimal("0.1")]


@pytest.mark.parametrize("change", ["update ledger set quantity = 1", "delete from ledger"])
async def test_the_ledger_is_never_changed(
    client: Client, roost: Roost, account: Account, change: str
) -> None:
    await client.post("/volumes", {"label": "data", "region": "us-lake", "size": 20})
    with pytest.raises(asyncpg.RaiseError, match="never changed"):
        await roost.store.execute(f"{change} where account_id = $1", account.id)


@pytest.mark.parametrize(
    "change",
    [
        "update invoice_item set amount = amount + 0.01 where invoice_id = $1",
        "update invoice set total = total + 0.01 where id = $1",
        "update account set balance = 3 where id = (select account_id from invoice where id = $1)",
    ],
)
async def test_verify_finds_each_changed_cent(roost: Roost, account: Account, change: str) -> None:
    invoice_id = await invoiced(roost, account.id)
    mine = f"account {account.id}"
    assert not [text async for text in differences(roost.store) if mine in text]
    await roost.store.execute(change, invoice_id)
    found = [text async for text in differences(roost.store) if mine in text]
    assert len(found) >= 1
    await roost.store.execute("update account set balance = 0 where id = $1", account.id)
    await roost.store.execute("delete from invoice where id = $1", invoice_id)
