"""Payments at a gateway of the field: cards, charges, what it says by itself, and settings."""

import time
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import aiohttp
import orjson
import pytest

from roost.app.payments import PATH, open_gateway
from roost.app.roost import Roost
from roost.app.secret_files import SecretFileError
from roost.engines.stripe.messages import HEADER, is_signed, signature
from roost.resources.payments import jobs, service
from roost.resources.payments.service import credit
from roost.settings import Settings
from tests.support.client import Answer, Client, Contract, until
from tests.support.payments import (
    METHODS,
    PAYMENTS,
    PENDING,
    REFUSED,
    VISA,
    added,
    attempt,
    last_payment,
    method_body,
    settled_payment,
    warnings,
)
from tests.support.server import RunningRoost, running_roost, simulated
from tests.support.stripe import DECLINED, KEY, SLOW, WRONG_CODE, StripeServer, stripe_server

pytestmark = pytest.mark.usefixtures("patient_answers")

SECRET = b"whsec_0123456789abcdef"


@pytest.fixture
async def stripe() -> AsyncIterator[StripeServer]:
    async with stripe_server() as server:
        yield server


@pytest.fixture
async def charging(
    stripe: StripeServer, tmp_path: Path, database_url: str
) -> AsyncIterator[RunningRoost]:
    key, secret = tmp_path / "key", tmp_path / "secret"
    key.write_text(f"{KEY}\n")
    secret.write_bytes(SECRET)
    settings = simulated(
        tmp_path / "state",
        database_url,
        payments="stripe",
        stripe_url=stripe.url,
        stripe_key_file=key,
        stripe_webhook_secret_file=secret,
    )
    async with running_roost(settings) as running:
        yield running


@pytest.fixture
async def admin(charging: RunningRoost) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{charging.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, charging.url).as_user(charging.token)


async def owe(roost: Roost, usd: str) -> None:
    """The only account owes so much more."""
    account_id = await roost.store.fetchval("select id from account")
    async with roost.store.transaction() as db:
        await credit(db, account_id, -Decimal(usd), "test", None, roost.clock.seconds())


async def pay(client: Client, roost: Roost, number: str) -> Answer:
    """A payment of 20 dollars by a new default card."""
    await added(client, number)
    await owe(roost, "20.00")
    return await attempt(client, "20.00")


async def tell(running: RunningRoost, body: bytes, header: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(running.url + PATH, data=body, headers={HEADER: header}) as response,
    ):
        return response.status


def signed(body: bytes, now: float) -> str:
    return f"t={int(now)},v1={'0' * 64},v1={signature(SECRET, str(int(now)), body)}"


def message(key: str) -> bytes:
    intent = {"metadata": {"roost_payment": key}}
    return orjson.dumps({"type": "payment_intent.succeeded", "data": {"object": intent}})


async def test_a_card_is_stored_charged_and_forgotten(
    charging: RunningRoost, admin: Client, stripe: StripeServer
) -> None:
    payment_id = (await pay(admin, charging.roost, VISA)).body["id"]
    assert (await settled_payment(admin))["status"] == "finished"
    assert stripe.charged[jobs.key_of(payment_id)] == 2000
    assert (await admin.get("/account"))["balance"] == 0
    first = (await admin.get(METHODS))["data"][0]["id"]
    await added(admin)
    before = len(stripe.customers)
    await admin.delete(f"{METHODS}/{first}")

    async def customers() -> int:
        return len(stripe.customers)

    await until(customers, lambda count: count == before - 1)


async def test_refusals_are_the_gateways_words(
    charging: RunningRoost, admin: Client, stripe: StripeServer
) -> None:
    refused = await admin.send("POST", METHODS, method_body(WRONG_CODE))
    assert refused.problems == [("data.card_number", "Your card's security code is incorrect.")]
    assert (await pay(admin, charging.roost, DECLINED)).problems == REFUSED
    payment_id = await last_payment(charging.roost)
    event = await settled_payment(admin)
    assert (event["status"], event["message"]) == ("failed", "Your card was declined.")
    assert jobs.key_of(payment_id) not in stripe.charged
    assert (await admin.get("/account"))["balance"] == 20


async def test_a_slow_card_is_paid_when_the_gateway_says_so(
    charging: RunningRoost,
    admin: Client,
    stripe: StripeServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service, "_LOOKS", 1)
    slow = await pay(admin, charging.roost, SLOW)
    assert warnings(slow) == PENDING
    payment_id = slow.body["id"]
    waits = "select status = 'waiting' from job where kind = 'payment' order by id desc limit 1"
    await until(lambda: charging.roost.store.fetchval(waits), bool)
    assert (await admin.get(f"{PAYMENTS}/{payment_id}"))["usd"] == 20
    stripe.decide("succeeded")
    body, now = message(jobs.key_of(payment_id)), time.time()
    assert await tell(charging, body, signed(body, now)) == 200
    assert (await settled_payment(admin))["status"] == "finished"
    assert await tell(charging, body, signed(body, now)) == 200
    assert (await admin.get("/account"))["balance"] == 0


async def test_messages_of_nobody(charging: RunningRoost) -> None:
    body, now = message(jobs.key_of(1)), time.time()
    wrong = signature(b"another secret", str(int(now)), body)
    for header in ("", "t=1", f"t={int(now)},v1={wrong}", signed(body, now - 301)):
        assert await tell(charging, body, header) == 400
    large = b" " * 300_000
    assert await tell(charging, large, signed(large, now)) == 413
    strange = [b"{}", b"nonsense", orjson.dumps({"type": "x", "data": {"object": {}}})]
    keys = ("roost-payment-0", "roost-payment-x", "other-1", "9" * 40, "")
    for other in (*strange, *map(message, keys)):
        assert await tell(charging, other, signed(other, now)) == 200


@pytest.mark.parametrize(
    "header",
    [
        "v1=00",
        "t=,v1=00",
        "t=\u0661,v1=00",
        "t=1,t=1,v1=00",
        f"t={'1' * 5000}",
        "t=1" + ",v1=00" * 100,
        ",,,=",
    ],
)
def test_signatures_that_are_none(header: str) -> None:
    assert not is_signed(SECRET, header, b"body", 1.0)


def test_a_message_without_a_secret_is_for_nobody(tmp_path: Path) -> None:
    with pytest.raises(SecretFileError, match="ROOST_PAYMENTS=stripe needs ROOST_STRIPE_KEY_FILE"):
        open_gateway(Settings(payments="stripe"))
    short = tmp_path / "key"
    for path, problem in ((short, "cannot be read"), (short, "must hold 16 to 4096 bytes")):
        with pytest.raises(SecretFileError, match=problem):
            open_gateway(Settings(payments="stripe", stripe_key_file=path))
        short.write_text("sk")


async def test_where_no_messages_are_taken(running: RunningRoost) -> None:
    assert await tell(running, b"{}", "") == 404
