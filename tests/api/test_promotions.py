"""Promo codes over HTTP, and what they pay of invoices (reference: Account, Promotion)."""

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.resources.billing.service import differences
from roost.resources.promotions.queries import PromoCode, insert_code
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client
from tests.support.invoices import INVOICES, invoiced

REDEEM = "/account/promo-codes"


async def offered(
    roost: Roost,
    code: str,
    credit: str = "100",
    cap: str | None = None,
    service: str = "all",
    days: int | None = None,
    ends: datetime | None = None,
    uses: int | None = None,
) -> str:
    """A code that can be redeemed."""
    new = PromoCode(
        code=code,
        summary="Welcome",
        description="For what you build",
        image_url="",
        service_type=service,
        credit=Decimal(credit),
        monthly_cap=Decimal(cap or credit),
        days=days,
        ends=ends,
        uses_left=uses,
        created=roost.clock.seconds(),
    )
    assert await insert_code(roost.store, new)
    return code


async def test_redeem(client: Client, roost: Roost, account: Account) -> None:
    code = await offered(roost, f"HELLO-{account.id}", "100", "20", days=60)
    row = await client.post(REDEEM, {"promo_code": code.lower()})
    expires = datetime.fromisoformat(row["expire_dt"])
    assert abs(expires - roost.clock.now() - timedelta(days=60)) < timedelta(minutes=1)
    assert row == {
        "credit_monthly_cap": "20.00",
        "credit_remaining": "100.00",
        "description": "For what you build",
        "expire_dt": row["expire_dt"],
        "image_url": "",
        "summary": "Welcome",
        "this_month_credit_remaining": "20.00",
        "service_type": "all",
    }
    assert (await client.get("/account"))["active_promotions"] == [row]
    answer = await client.send("POST", REDEEM, {"promo_code": code})
    reason = "This promo code has been redeemed already"
    assert (answer.status, answer.problems) == (400, [("promo_code", reason)])


async def test_what_cannot_be_redeemed(client: Client, roost: Roost, account: Account) -> None:
    now = roost.clock.seconds()
    ended = await offered(roost, f"ENDED-{account.id}", ends=now - timedelta(seconds=1))
    used_up = await offered(roost, f"USED-{account.id}", uses=0)
    for code in (ended, used_up, "NEVER-WAS", "a b'c"):
        answer = await client.send("POST", REDEEM, {"promo_code": code})
        reason = "This promo code is not valid"
        assert (answer.status, answer.problems) == (400, [("promo_code", reason)])
    for code in ("", "x" * 33):
        answer = await client.send("POST", REDEEM, {"promo_code": code})
        assert (answer.status, answer.problems[0][0]) == (400, "promo_code")
    assert (await client.get("/account"))["active_promotions"] == []


async def test_only_new_accounts(client: Client, roost: Roost, account: Account) -> None:
    code = await offered(roost, f"LATE-{account.id}")
    sql = "update account set created = $2 where id = $1"
    await roost.store.execute(sql, account.id, roost.clock.seconds() - timedelta(days=90))
    answer = await client.send("POST", REDEEM, {"promo_code": code})
    reason = "Only accounts younger than 90 days can redeem promo codes"
    assert (answer.status, answer.problems) == (400, [(None, reason)])


async def test_the_last_use_is_one_accounts(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    accounts = [await new_account() for _ in range(4)]
    clients = [nobody.as_user(await new_token(each)) for each in accounts]
    code = await offered(roost, f"ONCE-{accounts[0].id}", uses=1)
    answers = await asyncio.gather(
        *(each.send("POST", REDEEM, {"promo_code": code}) for each in clients)
    )
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]


async def test_one_account_redeems_once(client: Client, roost: Roost, account: Account) -> None:
    code = await offered(roost, f"BOTH-{account.id}")
    body = {"promo_code": code}
    answers = await asyncio.gather(*(client.send("POST", REDEEM, body) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]
    assert len((await client.get("/account"))["active_promotions"]) == 1


async def test_what_it_pays_of_an_invoice(client: Client, roost: Roost, account: Account) -> None:
    code = await offered(roost, f"PAYS-{account.id}", "0.10", "0.05")
    await client.post(REDEEM, {"promo_code": code})
    await roost.store.execute("alter table promotion disable trigger append_only")
    sql = "update promotion set created = created - interval '70 days' where account_id = $1"
    await roost.store.execute(sql, account.id)
    await roost.store.execute("alter table promotion enable trigger append_only")
    invoice_id = await invoiced(roost, account.id)
    charged, paid = (await client.get(f"{INVOICES}/{invoice_id}/items"))["data"]
    assert charged["amount"] == 0.07
    assert paid == {
        "label": "Promotion - Welcome",
        "type": "misc",
        "quantity": None,
        "unit_price": None,
        "from": paid["from"],
        "to": paid["to"],
        "region": None,
        "amount": -0.05,
        "tax": 0,
        "total": -0.05,
    }
    assert (await client.get(f"{INVOICES}/{invoice_id}"))["total"] == 0.02
    shown = await client.get("/account")
    assert shown["balance"] == 0.02
    (row,) = shown["active_promotions"]
    assert (row["credit_remaining"], row["this_month_credit_remaining"]) == ("0.05", "0.05")
    name = f"invoice {invoice_id}"
    assert not [text async for text in differences(roost.store) if text.startswith(name)]
    change = "update invoice_item set amount = -0.06 where invoice_id = $1 and amount < 0"
    await roost.store.execute(change, invoice_id)
    (text,) = [text async for text in differences(roost.store) if text.startswith(name)]
    assert text.endswith("its items are not what the ledger says")
    await roost.store.execute(change.replace("-0.06", "-0.05"), invoice_id)


async def test_what_is_not_invoiced_yet(client: Client, roost: Roost, account: Account) -> None:
    body = {"label": "data", "region": "us-lake", "size": 1000}
    await client.post("/volumes", body)
    before = (await client.get("/account"))["balance_uninvoiced"]
    assert before > 0
    code = await offered(roost, f"OPEN-{account.id}", "0.10", service="blockstorage")
    await client.post(REDEEM, {"promo_code": code})
    after = (await client.get("/account"))["balance_uninvoiced"]
    assert after == pytest.approx(before - 0.10, abs=0.011)


@pytest.mark.parametrize("change", ["update promotion set credit = 1000", "delete from promotion"])
async def test_what_was_promised_is_never_changed(
    client: Client, roost: Roost, account: Account, change: str
) -> None:
    code = await offered(roost, f"HOLDS-{account.id}")
    await client.post(REDEEM, {"promo_code": code})
    with pytest.raises(Exception, match="never changed"):
        await roost.store.execute(f"{change} where account_id = $1", account.id)
