"""Payment methods and payments over HTTP (spec B account)."""

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

import pytest

from roost.app.roost import Roost
from roost.engines.simulated.gateway import SimulatedGateway
from roost.jobs.kinds import Retry
from roost.jobs.queue import JobQueue
from roost.resources.billing.service import differences as billing_differences
from roost.resources.payments import service
from roost.resources.payments.collect_service import collect, tell
from roost.resources.payments.engine import GatewayError, Gateways
from roost.resources.payments.queries import insert_payment, unbooked
from roost.resources.payments.service import credit, record, settle
from roost.services import Services
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client, Json
from tests.support.drift import drift
from tests.support.families import adopt
from tests.support.invoices import invoiced
from tests.support.payments import (
    DECLINED,
    MASTERCARD,
    METHODS,
    PAYMENTS,
    PENDING,
    REFUSED,
    added,
    attempt,
    card,
    last_payment,
    method_body,
    settled_payment,
    warnings,
)

pytestmark = pytest.mark.usefixtures("patient_answers")

CARD = "/account/credit-card"


async def owe(roost: Roost, account: Account, usd: str) -> None:
    """As after an invoice."""
    async with roost.store.transaction() as db:
        await credit(db, account.id, -Decimal(usd), "test", None, roost.clock.seconds())


async def differences(roost: Roost, account: Account) -> list[str]:
    """Those of one account: other tests change theirs by hand."""
    found = [text async for text in billing_differences(roost.store)]
    return [text for text in found if f"account {account.id}:" in text]


@pytest.mark.spec(
    "B payment-methods list",
    "B payment-methods create",
    "B payment-methods view",
    "B payment-methods type",
    "B payment-methods default",
    "B events payment_method_add",
)
async def test_method(client: Client, stranger: Client) -> None:
    row = await client.post(METHODS, method_body(is_default=False))
    assert row == {
        "id": row["id"],
        "type": "credit_card",
        "is_default": True,  # The first one, whatever was asked.
        "created": row["created"],
        "data": {"card_type": "Visa", "last_four": "4242", "expiry": "12/2099"},
    }
    assert await client.get(f"{METHODS}/{row['id']}") == row
    assert (await client.get(METHODS))["data"] == [row]
    (event,) = (await client.get("/account/events"))["data"]
    assert (event["action"], event["status"]) == ("payment_method_add", "notification")
    assert (await stranger.get(METHODS))["data"] == []
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/make-default")):
        assert (await stranger.send(method, f"{METHODS}/{row['id']}{path}")).status == 404


@pytest.mark.spec(
    "B payment-methods make-default", "B payment-methods delete", "B account 5", "B account 6"
)
async def test_default(client: Client) -> None:
    first, second = await added(client), await added(client)
    third = await added(client, is_default=False)
    assert await defaults(client) == [second]
    await client.post(f"{METHODS}/{third}/make-default")
    assert await defaults(client) == [third]
    refused = await client.send("DELETE", f"{METHODS}/{third}")
    assert (refused.status, len(refused.problems)) == (400, 1)
    for each in (first, second):
        await client.delete(f"{METHODS}/{each}")
        assert (await client.send("GET", f"{METHODS}/{each}")).status == 404
    assert await defaults(client) == [third]


async def test_the_account_shows_its_default_card(client: Client) -> None:
    first = await added(client)
    await added(client, MASTERCARD, is_default=False)
    assert (await client.get("/account"))["credit_card"] == {
        "last_four": "4242",
        "expiry": "12/2099",
    }
    second = await added(client, MASTERCARD)
    assert (await client.get("/account"))["credit_card"]["last_four"] == "4444"
    await client.post(f"{METHODS}/{first}/make-default")
    assert (await client.get("/account"))["credit_card"]["last_four"] == "4242"
    await client.delete(f"{METHODS}/{second}")
    assert (await client.get("/account"))["credit_card"]["last_four"] == "4242"


async def defaults(client: Client) -> list[int]:
    rows = (await client.get(METHODS))["data"]
    return [row["id"] for row in rows if row["is_default"]]


@pytest.mark.spec("B limits payment methods", "B limits payment methods added")
async def test_limits(client: Client, roost: Roost, account: Account) -> None:
    ids = [await added(client) for _ in range(6)]
    refused = await client.send("POST", METHODS, method_body())
    assert refused.problems == [(None, "An account has up to 6 payment methods")]
    await client.delete(f"{METHODS}/{ids[0]}")
    await roost.store.execute(
        """
        insert into payment_method (account_id, is_default, created, removed, card_type, last_four,
            expiry, token)
        select account_id, false, created, created, card_type, last_four, expiry, ''
        from payment_method m cross join generate_series(1, 54) where m.id = $1
        """,
        ids[1],
    )
    refused = await client.send("POST", METHODS, method_body())
    assert refused.problems == [(None, "Up to 60 payment methods can be added in a day")]
    await roost.store.execute(
        "update payment_method set created = $2 where account_id = $1",
        account.id,
        roost.clock.now() - timedelta(days=1, seconds=1),
    )
    await added(client)


async def test_methods_that_are_added_at_once(client: Client) -> None:
    answers = await asyncio.gather(*(client.send("POST", METHODS, method_body()) for _ in range(9)))
    assert sorted(answer.status for answer in answers) == [200] * 6 + [400] * 3
    assert len(await defaults(client)) == 1


@pytest.mark.spec(
    "B payment-methods card",
    "B payment-methods cvv",
    "B payment-methods month",
    "B payment-methods year",
    "B payment-methods expired",
)
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"card_number": "4242 4242 4242 4242"}, "card_number"),
        ({"card_number": "4242-4242-4242-4242"}, "card_number"),
        ({"card_number": "4242424242424243"}, "card_number"),
        ({"card_number": "4" * 13}, "card_number"),
        ({"card_number": "0" * 25}, "card_number"),
        ({"card_number": "\u0664\u0662" * 7}, "card_number"),
        ({"card_number": 4242424242424242}, "card_number"),
        ({"card_number": "4000000000000127"}, "card_number"),
        ({"cvv": "12"}, "cvv"),
        ({"cvv": "12345"}, "cvv"),
        ({"cvv": "1a3"}, "cvv"),
        ({"expiry_month": 0}, "expiry_month"),
        ({"expiry_month": 13}, "expiry_month"),
        ({"expiry_year": 99}, "expiry_year"),
        ({"expiry_year": 10000}, "expiry_year"),
        ({"expiry_year": 2020}, "expiry_year"),
    ],
)
async def test_what_is_no_card(client: Client, values: Json, field: str) -> None:
    for path, body, name in (
        (METHODS, method_body(**values), f"data.{field}"),
        (CARD, card(**values), field),
    ):
        refused = await client.send("POST", path, body)
        assert (refused.status, [each for each, _ in refused.problems]) == (400, [name])
    assert (await client.get(METHODS))["data"] == []


@pytest.mark.parametrize("name", ["card_number", "cvv", "expiry_month", "expiry_year"])
async def test_what_a_card_must_have(client: Client, name: str) -> None:
    data = card()
    del data[name]
    refused = await client.send("POST", CARD, data)
    assert refused.problems == [(name, f"{name} is required")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "google_pay", "is_default": True, "data": card()}, "type"),
        ({"is_default": True, "data": card()}, "type"),
        ({"type": "credit_card", "data": card()}, "is_default"),
        ({"type": "credit_card", "is_default": "maybe", "data": card()}, "is_default"),
        ({"type": "credit_card", "is_default": True}, "data"),
    ],
)
async def test_what_is_no_method(client: Client, body: Json, field: str) -> None:
    refused = await client.send("POST", METHODS, body)
    assert (refused.status, [each for each, _ in refused.problems]) == (400, [field])


async def test_a_card_can_be_used_in_its_last_month(client: Client, roost: Roost) -> None:
    now = roost.clock.now()
    body = method_body(expiry_month=now.month, expiry_year=now.year)
    assert (await client.post(METHODS, body))["data"]["expiry"] == now.strftime("%m/%Y")


@pytest.mark.spec("B credit-card")
async def test_credit_card(client: Client) -> None:
    await added(client)
    assert await client.post(CARD, card("5555555555554444")) == {}
    rows = (await client.get(METHODS))["data"]
    assert [(row["data"]["card_type"], row["is_default"]) for row in rows] == [
        ("Visa", False),
        ("MasterCard", True),
    ]


@pytest.mark.spec(
    "B payments list", "B payments create", "B events payment_submitted", "B account 7 default"
)
async def test_payment(client: Client, stranger: Client, roost: Roost, account: Account) -> None:
    await added(client)
    await owe(roost, account, "30.10")
    row = await client.post(PAYMENTS, {"usd": "$25.00"})
    assert row == {"id": row["id"], "date": row["date"], "usd": 25}
    event = await settled_payment(client)
    assert event["status"] == "finished"
    assert (await client.get("/account"))["balance"] == 5.1
    assert await client.get(f"{PAYMENTS}/{row['id']}") == row
    assert (await client.get(PAYMENTS))["data"] == [row]
    assert (await stranger.send("GET", f"{PAYMENTS}/{row['id']}")).status == 404
    assert await differences(roost, account) == []


async def test_the_same_key_pays_once(client: Client, roost: Roost, account: Account) -> None:
    await added(client)
    await owe(roost, account, "100.00")
    key = {"Idempotency-Key": "invoice 12"}
    first, again = [await client.send("POST", PAYMENTS, {"usd": "20.00"}, key) for _ in range(2)]
    assert (first.status, first.raw) == (200, again.raw)
    await settled_payment(client)
    assert (await client.get("/account"))["balance"] == 80


async def test_a_card_that_is_declined(client: Client, roost: Roost, account: Account) -> None:
    await owe(roost, account, "30.00")
    declined, other = await added(client, DECLINED), await added(client, is_default=False)
    key = {"Idempotency-Key": "a card that is declined"}
    for _ in range(2):
        refused = await client.send("POST", PAYMENTS, {"usd": "30.00"}, key)
        assert (refused.status, refused.problems) == (400, REFUSED)
    event = await settled_payment(client)
    assert (event["status"], event["message"]) == ("failed", "The card was declined.")
    payment_id = await last_payment(roost)
    assert (await client.send("GET", f"{PAYMENTS}/{payment_id}")).status == 404
    assert (await client.get(PAYMENTS))["data"] == []
    assert (await client.get("/account"))["balance"] == 30
    await client.post(PAYMENTS, {"usd": "30.00", "payment_method_id": other})
    assert (await settled_payment(client))["status"] == "finished"
    assert (await client.get("/account"))["balance"] == 0
    assert declined != other


async def test_a_charge_that_takes_its_time(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same key is told what has become of it meanwhile."""
    charged = asyncio.Event()

    async def charge(gateway: SimulatedGateway, key: str, token: str, usd: Decimal) -> None:
        await charged.wait()

    monkeypatch.setattr(SimulatedGateway, "charge", charge)
    monkeypatch.setattr(service, "_LOOKS", 1)
    await added(client)
    await owe(roost, account, "30.00")
    key = {"Idempotency-Key": "a slow card"}
    first, again = [await client.send("POST", PAYMENTS, {"usd": "30.00"}, key) for _ in range(2)]
    assert (warnings(first), first.raw) == (PENDING, again.raw)
    row = {"id": first.body["id"], "date": first.body["date"], "usd": 30}
    assert (await client.get(PAYMENTS))["data"] == [row]
    assert (await client.get("/account"))["balance"] == 30
    charged.set()
    assert (await settled_payment(client))["status"] == "finished"
    settled = await client.send("POST", PAYMENTS, {"usd": "30.00"}, key)
    assert (settled.status, settled.body) == (200, row)
    assert (await client.get("/account"))["balance"] == 0


@pytest.mark.spec("B errors payments", "B account 7")
@pytest.mark.parametrize(
    "usd",
    [
        "25",
        "25.0",
        "25.000",
        "1,000.00",
        "$$5.00",
        "-25.00",
        "25.00$",
        " 25.00",
        "\u0662\u0665.\u0660\u0660",
    ],
)
async def test_what_is_no_amount(client: Client, usd: str) -> None:
    await added(client)
    refused = await client.send("POST", PAYMENTS, {"usd": usd})
    assert (refused.status, [field for field, _ in refused.problems]) == (400, ["usd"])


async def test_what_is_on_its_way_is_not_owed(
    client: Client, roost: Roost, account: Account
) -> None:
    await added(client)
    await owe(roost, account, "3000.00")
    await client.post(PAYMENTS, {"usd": "2500.00"})
    refused = await client.send("POST", PAYMENTS, {"usd": "2500.00"})
    assert refused.problems == [("usd", "Must be $5.00-$2000.00")]


async def test_payments_at_once(client: Client, roost: Roost, account: Account) -> None:
    """More than is prepaid is charged for what is owed alone, however many ask."""
    await added(client)
    await owe(roost, account, "2400.00")
    answers = await asyncio.gather(*(attempt(client, "2400.00") for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]
    assert [row["usd"] for row in (await client.get(PAYMENTS))["data"]] == [2400]
    assert (await client.get("/account"))["balance"] == 0
    assert await differences(roost, account) == []


async def test_cards_that_go_while_others_become_the_default_one(client: Client) -> None:
    """There is one default card in each moment, and it cannot be deleted."""
    await added(client)
    for _ in range(5):
        other = await added(client, is_default=False)
        answers = await asyncio.gather(
            client.send("POST", f"{METHODS}/{other}/make-default"),
            client.send("DELETE", f"{METHODS}/{other}"),
        )
        outcome = tuple(answer.status for answer in answers)
        assert outcome in ((200, 400), (404, 200))
        assert (await defaults(client) == [other]) is (outcome == (200, 400))


async def test_who_pays(client: Client, stranger: Client, roost: Roost, account: Account) -> None:
    refused = await client.send("POST", PAYMENTS, {"usd": "25.00"})
    assert refused.problems == [(None, "There is no default payment method")]
    others, own = await added(stranger), await added(client)
    body = {"usd": "25.00", "payment_method_id": others}
    invalid = ("payment_method_id", "payment_method_id is not valid")
    assert (await client.send("POST", PAYMENTS, body)).problems == [invalid]
    await roost.store.execute(
        "update payment_method set expiry = $2 where account_id = $1",
        account.id,
        datetime(2020, 1, 1),
    )
    expired = "The payment method has expired"
    refused = await client.send("POST", PAYMENTS, {"usd": "25.00", "payment_method_id": own})
    assert refused.problems == [("payment_method_id", expired)]
    refused = await client.send("POST", f"{METHODS}/{own}/make-default")
    assert refused.problems == [(None, expired)]


@pytest.mark.spec("B account 9", "B account 9 bodies")
async def test_third_parties(client: Client) -> None:
    begin = {"cancel_url": "https://a", "redirect_url": "https://b", "usd": "5.00"}
    execute = {"payer_id": "a", "payment_id": "b"}
    for path, body in (("altpay", begin), ("altpay/execute", execute)):
        refused = await client.send("POST", f"{PAYMENTS}/{path}", body)
        assert refused.problems == [(None, "Payments with third parties are disabled")]
        refused = await client.send("POST", f"{PAYMENTS}/{path}", {})
        assert [field for field, _ in refused.problems] == list(body)


async def test_new_invoices_are_charged(client: Client, roost: Roost, account: Account) -> None:
    await added(client)
    await invoiced(roost, account.id)
    (due,) = [row for row in await notices(client) if row["type"] == "payment_due"]
    assert due["message"] == "Your account owes $0.07. Please make a payment."
    for _ in range(2):
        await collect(roost.store, roost.services, roost.clock.seconds())
        assert (await settled_payment(client))["status"] == "finished"
    assert [row["usd"] for row in (await client.get(PAYMENTS))["data"]] == [0.07]
    assert (await client.get("/account"))["balance"] == 0
    assert await notices(client) == []


async def notices(client: Client) -> list[Json]:
    return [
        row
        for row in (await client.get("/account/notifications"))["data"]
        if row["type"] == "payment_due"
    ]


@pytest.mark.spec("B account 3 payments", "B auth 2 payments")
async def test_children_do_not_pay(
    client: Client,
    nobody: Client,
    account: Account,
    new_account: NewAccount,
    new_token: NewToken,
    roost: Roost,
) -> None:
    method_id = await added(client)
    parent = await new_account()
    await adopt(roost, account.id, parent.id)
    client = nobody.as_user(await new_token(account))
    for path, body in (
        (METHODS, method_body()),
        (f"{METHODS}/{method_id}/make-default", None),
        (CARD, card()),
        (PAYMENTS, {"usd": "5.00"}),
    ):
        assert (await client.send("POST", path, body)).status == 403
    for path in (METHODS, PAYMENTS):
        assert (await client.send("GET", path)).status == 200
    assert [row["id"] for row in (await client.get(METHODS))["data"]] == [method_id]


async def test_what_the_operator_records(client: Client, roost: Roost, account: Account) -> None:
    async with roost.store.transaction() as db:
        payment_id = await record(db, account.id, Decimal("12.50"), roost.clock.seconds())
    assert (await client.get(f"{PAYMENTS}/{payment_id}"))["usd"] == 12.5
    assert (await client.get("/account"))["balance"] == -12.5
    assert await differences(roost, account) == []


async def test_the_books_are_checked(client: Client, roost: Roost, account: Account) -> None:
    async with roost.store.transaction() as db:
        payment_id = await record(db, account.id, Decimal("1.00"), roost.clock.seconds())
        await db.execute("update payment set usd = 2 where id = $1", payment_id)
    assert payment_id in await unbooked(roost.store)
    await roost.store.execute("update payment set usd = 1 where id = $1", payment_id)
    assert payment_id not in await unbooked(roost.store)


async def test_a_full_account_asks_no_gateway(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(6):
        await added(client)
    monkeypatch.setattr(SimulatedGateway, "store_card", _never)
    for path, body in ((METHODS, method_body()), (CARD, card())):
        refused = await client.send("POST", path, body)
        assert refused.problems == [(None, "An account has up to 6 payment methods")]


async def _never(*_: object) -> str:
    raise AssertionError("the gateway was asked")


async def test_a_gateway_that_answers_late(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked again with the same key."""
    keys: list[str] = []

    async def charge(gateway: SimulatedGateway, key: str, token: str, usd: Decimal) -> None:
        keys.append(key)
        if len(keys) < 3:
            raise GatewayError("The gateway does not answer.")

    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    monkeypatch.setattr(SimulatedGateway, "charge", charge)
    await added(client)
    await owe(roost, account, "30.00")
    row = await client.post(PAYMENTS, {"usd": "30.00"})
    assert (await settled_payment(client))["status"] == "finished"
    assert keys == [f"roost-payment-{row['id']}"] * 3
    assert (await client.get("/account"))["balance"] == 0


async def _silent(*_: object) -> None:
    raise GatewayError("The gateway does not answer.")


async def test_a_charge_that_can_be_taken_back(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[str] = []

    async def cancel(gateway: SimulatedGateway, key: str, token: str) -> None:
        cancelled.append(key)

    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    monkeypatch.setattr(SimulatedGateway, "charge", _silent)
    monkeypatch.setattr(SimulatedGateway, "cancel", cancel)
    await added(client)
    await owe(roost, account, "30.00")
    assert (await attempt(client, "30.00")).problems == REFUSED
    assert (await settled_payment(client))["status"] == "failed"
    payment_id = await last_payment(roost)
    assert cancelled == [f"roost-payment-{payment_id}"]
    assert (await client.send("GET", f"{PAYMENTS}/{payment_id}")).status == 404
    assert await drift(roost, f"payment {payment_id}") == []


@pytest.mark.parametrize(("status", "balance"), [("accepted", 0), ("declined", 30)])
async def test_a_charge_of_which_nobody_knows(
    status: Literal["accepted", "declined"],
    balance: int,
    client: Client,
    roost: Roost,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is neither made nor not, until the operator has asked."""
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    monkeypatch.setattr(SimulatedGateway, "charge", _silent)
    monkeypatch.setattr(SimulatedGateway, "cancel", _silent)
    await added(client)
    await owe(roost, account, "30.00")
    monkeypatch.setattr(service, "_LOOKS", 1)
    answer = await attempt(client, "30.00")
    assert warnings(answer) == PENDING
    assert (await settled_payment(client))["status"] == "failed"
    row = await client.get(f"{PAYMENTS}/{answer.body['id']}")
    assert (await client.get("/account"))["balance"] == 30
    text = f"nobody knows whether payment {row['id']} was charged"
    assert await drift(roost, f"payment {row['id']}") == [text]
    for expected in (True, False):
        async with roost.store.transaction() as db:
            now = roost.clock.seconds()
            assert await settle(db, row["id"], status, now) is expected
    assert (await client.get("/account"))["balance"] == balance
    assert await drift(roost, f"payment {row['id']}") == []


async def test_an_invoice_is_not_forgotten(client: Client, roost: Roost, account: Account) -> None:
    """Neither for a card that has expired, nor for a payment that is declined later."""
    method_id = await added(client)
    await invoiced(roost, account.id)
    store, now = roost.store, roost.clock.seconds()
    set_expiry = "update payment_method set expiry = $2 where id = $1"
    await store.execute(set_expiry, method_id, datetime(2020, 1, 1))
    await collect(store, roost.services, now)
    assert (await client.get(PAYMENTS))["data"] == []
    await store.execute(set_expiry, method_id, datetime(2099, 1, 1))
    other = await insert_payment(store, account.id, Decimal("0.07"), now, method_id)
    await collect(store, roost.services, now)
    assert [row["id"] for row in (await client.get(PAYMENTS))["data"]] == [other]
    async with store.transaction() as db:
        await settle(db, other, "declined", now)
    await collect(store, roost.services, now)
    assert (await settled_payment(client))["status"] == "finished"
    assert (await client.get("/account"))["balance"] == 0


async def payments_of(roost: Roost, account: Account) -> int:
    """How many, also those that were declined, which nobody is shown."""
    sql = "select count(*) from payment where account_id = $1"
    found: int = await roost.store.fetchval(sql, account.id)
    return found


async def test_a_declined_card_is_charged_again(
    client: Client, roost: Roost, account: Account
) -> None:
    """After 3, 5 and 7 days, and then no more; each time the account is told."""
    await added(client, DECLINED)
    await invoiced(roost, account.id)
    now, days, tried = roost.clock.seconds(), 0, list[int]()
    told = "select charge_told from account where id = $1"
    while days < 40:
        await collect(roost.store, roost.services, now + timedelta(days=days))
        if await payments_of(roost, account) > len(tried):
            tried.append(days)
            assert (await settled_payment(client))["status"] == "failed"
            await tell(roost.store, roost.services)
            assert await roost.store.fetchval(told, account.id) == len(tried)
        days += 1
    assert tried == [0, 3, 8, 15]
    assert (await client.get("/account"))["balance"] == 0.07


async def test_what_was_paid_meanwhile_is_not_charged_again(
    client: Client, roost: Roost, account: Account
) -> None:
    await added(client, DECLINED)
    await invoiced(roost, account.id)
    now = roost.clock.seconds()
    await collect(roost.store, roost.services, now)
    await settled_payment(client)
    async with roost.store.transaction() as db:
        await record(db, account.id, Decimal("0.07"), now)
    await collect(roost.store, roost.services, now + timedelta(days=4))
    assert await payments_of(roost, account) == 2
    await tell(roost.store, roost.services)
    sql = "select charge_told from account where id = $1"
    assert await roost.store.fetchval(sql, account.id) == 0


async def test_two_workers_charge_once(client: Client, roost: Roost, account: Account) -> None:
    await added(client, DECLINED)
    await invoiced(roost, account.id)
    now = roost.clock.seconds()
    for days, expected in ((0, 1), (3, 2)):
        later = now + timedelta(days=days)
        await asyncio.gather(*(collect(roost.store, roost.services, later) for _ in range(4)))
        assert await payments_of(roost, account) == expected
        await settled_payment(client)


async def test_what_is_past_due(client: Client, roost: Roost, account: Account) -> None:
    invoice_id = await invoiced(roost, account.id)
    for days, label, severity in (
        (13, "Payment due", "major"),
        (15, "Payment past due", "critical"),
    ):
        date = roost.clock.seconds() - timedelta(days=days)
        sql = "update invoice set date = $2 where id = $1"
        await roost.store.execute(sql, invoice_id, date)
        (due,) = await notices(client)
        assert (due["label"], due["severity"]) == (label, severity)


async def test_without_a_gateway_nobody_is_charged(
    client: Client, roost: Roost, account: Account
) -> None:
    await added(client)
    await invoiced(roost, account.id)
    services = Services(Gateways(None), roost.services.get(JobQueue))
    await collect(roost.store, services, roost.clock.seconds())
    assert (await client.get(PAYMENTS))["data"] == []
