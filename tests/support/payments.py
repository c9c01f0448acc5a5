"""Cards and payments over HTTP."""

from collections.abc import Mapping

from roost.app.roost import Roost
from tests.support.client import Answer, Client, Json, until

METHODS = "/account/payment-methods"
PAYMENTS = "/account/payments"
VISA = "4242424242424242"
MASTERCARD = "5555555555554444"
DECLINED = "4000000000000341"
PENDING = ["The payment is pending"]
REFUSED = [(None, "The payment was declined; its event tells why")]


def card(number: str = VISA, **values: object) -> dict[str, object]:
    return {
        "card_number": number,
        "cvv": "123",
        "expiry_month": 12,
        "expiry_year": 2099,
        **values,
    }


def method_body(
    number: str = VISA, *, is_default: bool = True, **values: object
) -> Mapping[str, object]:
    return {"type": "credit_card", "is_default": is_default, "data": card(number, **values)}


async def added(client: Client, number: str = VISA, *, is_default: bool = True) -> int:
    row: Json = await client.post(METHODS, method_body(number, is_default=is_default))
    return int(row["id"])


async def attempt(client: Client, usd: str, **values: object) -> Answer:
    """What is said of a payment, whatever becomes of it."""
    return await client.send("POST", PAYMENTS, {"usd": usd, **values})


def warnings(answer: Answer) -> list[str]:
    assert answer.status == 202, answer.body
    return [warning["title"] for warning in answer.body["warnings"]]


async def last_payment(roost: Roost) -> int:
    """The id of a payment that the API may not show any more."""
    return int(await roost.store.fetchval("select max(id) from payment"))


async def settled_payment(client: Client) -> Json:
    """The event of the last payment, when it has ended."""

    async def last() -> Json:
        rows = (await client.get("/account/events"))["data"]
        return next((row for row in rows if row["action"] == "payment_submitted"), None)

    return await until(last, lambda row: row and row["status"] in ("finished", "failed"))
