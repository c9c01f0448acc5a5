"""What every payment gateway owes: a charge for each key, and a clear word on how it ended."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from decimal import Decimal

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from roost.engines.simulated import gateway as simulated
from roost.engines.simulated.gateway import SimulatedGateway
from roost.engines.stripe.gateway import StripeGateway
from roost.resources.payments.engine import (
    Card,
    DeclinedError,
    Gateway,
    GatewayError,
    UndecidedError,
)
from tests.support import stripe
from tests.support.stripe import StripeServer, stripe_server

GOOD = "4242424242424242"
USD = Decimal("19.99")


def card(number: str = GOOD) -> Card:
    return Card(number, "123", 12, 2035)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[StripeServer]:
    async with stripe_server() as server:
        yield server


@pytest.fixture
def real(server: StripeServer) -> StripeGateway:
    return StripeGateway(stripe.KEY, server.url)


@pytest_asyncio.fixture(params=["simulated", "stripe"])
async def gateway(request: pytest.FixtureRequest) -> AsyncIterator[Gateway]:
    async with AsyncExitStack() as stack:
        if request.param == "simulated":
            yield SimulatedGateway()
        else:
            server = await stack.enter_async_context(stripe_server())
            yield StripeGateway(stripe.KEY, server.url)


async def test_a_card_is_charged_again_and_again(gateway: Gateway) -> None:
    token = await gateway.store_card(card())
    assert GOOD not in token
    for key in ("one", "one", "two"):
        await gateway.charge(key, token, USD)


async def test_a_wrong_code(gateway: Gateway) -> None:
    with pytest.raises(DeclinedError, match="security code"):
        await gateway.store_card(card(simulated.REFUSED))


async def test_a_declined_card(gateway: Gateway) -> None:
    token = await gateway.store_card(card(stripe.DECLINED))
    for _ in range(2):
        with pytest.raises(DeclinedError, match="card was declined"):
            await gateway.charge("one", token, USD)
    await gateway.cancel("one", token)


async def test_a_slow_card_is_asked_again(gateway: Gateway) -> None:
    token = await gateway.store_card(card(simulated.SLOW))
    with pytest.raises(UndecidedError):
        await gateway.charge("one", token, USD)


async def test_what_never_was_is_cancelled_and_forgotten(gateway: Gateway) -> None:
    token = await gateway.store_card(card())
    await gateway.cancel("never", token)
    for _ in range(2):
        await gateway.forget_card(token)


async def test_a_key_charges_once_also_after_days(
    server: StripeServer, real: StripeGateway
) -> None:
    token = await real.store_card(card())
    await real.charge("one", token, USD)
    server.keys.clear()
    await real.charge("one", token, USD)
    await real.charge("two", token, Decimal("0.50"))
    assert server.charged == {"one": 1999, "two": 50}


async def test_an_answer_that_is_lost(server: StripeServer, real: StripeGateway) -> None:
    token = await real.store_card(card())
    server.loses = True
    with pytest.raises(GatewayError, match="does not answer"):
        await real.charge("one", token, USD)
    server.loses = False
    await real.charge("one", token, USD)
    assert server.charged == {"one": 1999}
    assert len(server.intents) == 1


async def test_a_slow_card(server: StripeServer, real: StripeGateway) -> None:
    token = await real.store_card(card(stripe.SLOW))
    for key in ("paid", "failed"):
        with pytest.raises(UndecidedError):
            await real.charge(key, token, USD)
        with pytest.raises(GatewayError):
            await real.cancel(key, token)
        server.decide("succeeded" if key == "paid" else "requires_payment_method")
    await real.charge("paid", token, USD)
    with pytest.raises(DeclinedError):
        await real.charge("failed", token, USD)


async def test_money_is_given_back_once(server: StripeServer, real: StripeGateway) -> None:
    token = await real.store_card(card())
    await real.charge("one", token, USD)
    await real.cancel("one", token)
    server.keys.clear()
    await real.cancel("one", token)
    assert server.charged == {}
    assert len(server.refunds) == 1


async def test_a_forgotten_card_is_not_charged(server: StripeServer, real: StripeGateway) -> None:
    token = await real.store_card(card())
    await real.forget_card(token)
    assert server.customers == {}
    with pytest.raises(DeclinedError, match="refused"):
        await real.charge("one", token, USD)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
async def test_faults_are_no_refusals(
    status: int, server: StripeServer, real: StripeGateway
) -> None:
    server.fault = status
    with pytest.raises(GatewayError):
        await real.store_card(card())


async def test_a_wrong_key_is_the_operators_affair(server: StripeServer) -> None:
    wrong = StripeGateway("sk_test_wrong_wrong_wrong", server.url)
    with capture_logs() as logs, pytest.raises(GatewayError):
        await wrong.store_card(card())
    assert [each["reason"] for each in logs] == ["401 invalid_request_error None"]
    assert "sk_test" not in str(logs) + repr(wrong)


async def test_nobody_answers() -> None:
    gateway = StripeGateway(stripe.KEY, "http://127.0.0.1:1")
    with capture_logs() as logs, pytest.raises(GatewayError):
        await gateway.store_card(card())
    assert GOOD not in str(logs)
