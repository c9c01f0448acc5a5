"""Request bodies of payments (spec B account)."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict

from roost.core.context import Context
from roost.ids import MAX_ID
from roost.resources.payments import queries, rules
from roost.resources.payments.engine import Card
from roost.web.bodies import Body
from roost.web.checks import Refers
from roost.web.fields import Between, Length, Pattern, ShortText, refuse


class _Method:
    """What the account has on file."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await queries.last_fours(context.db, context.account_id, ids)


MethodId = Annotated[int, Between(1, MAX_ID), Refers(_Method())]


_DIGITS = Pattern("[0-9]*", "Must consist of digits")


def _card_number(number: str) -> str:
    if not rules.is_card_number(number):
        raise refuse("card_number is not valid")
    return number


class CardData(Body):
    """POST /account/credit-card, and the data of a payment method that is a card."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "card_number": "42424242424242",
                    "cvv": "123",
                    "expiry_month": 12,
                    "expiry_year": 2035,
                }
            ]
        }
    )

    card_number: Annotated[str, Length(14, 24), _DIGITS, AfterValidator(_card_number)]
    """The number of the card, without spaces and hyphens."""
    cvv: Annotated[str, Length(3, 4), _DIGITS]
    """The security code on it."""
    expiry_month: Annotated[int, Between(1, 12)]
    """The last month in which it can be used."""
    expiry_year: Annotated[int, Between(1000, 9999)]
    """The year of that month."""

    def card(self) -> Card:
        return Card(self.card_number, self.cvv, self.expiry_month, self.expiry_year)


class AddMethod(Body):
    """POST /account/payment-methods."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "credit_card",
                    "is_default": True,
                    "data": {
                        "card_number": "42424242424242",
                        "cvv": "123",
                        "expiry_month": 12,
                        "expiry_year": 2035,
                    },
                }
            ]
        }
    )

    type: Literal["credit_card"]
    """What it is."""
    is_default: bool
    """Whether it pays from now on; an account's first one does."""
    data: CardData
    """The card."""


class Pay(Body):
    """POST /account/payments."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"usd": "25.00"}]})

    usd: Annotated[
        str, Length(4, 12), Pattern(r"\$?[0-9]+\.[0-9]{2}", "Must be an amount such as 25.00")
    ]
    """US dollars with cents; `$` may stand before them."""
    payment_method_id: MethodId | None = None
    """What pays; by default the default one."""

    def amount(self) -> Decimal:
        return Decimal(self.usd.removeprefix("$"))


class BeginThirdParty(Body):
    """POST /account/payments/altpay."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "cancel_url": "https://example.com/back",
                    "redirect_url": "https://example.com/paid",
                    "usd": "25.00",
                }
            ]
        }
    )

    cancel_url: ShortText
    """Where to come back to without a payment."""
    redirect_url: ShortText
    """Where to come back to after it."""
    usd: ShortText
    """US dollars."""


class ExecuteThirdParty(Body):
    """POST /account/payments/altpay/execute."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"payer_id": "payer", "payment_id": "payment"}]}
    )

    payer_id: ShortText
    """Who pays."""
    payment_id: ShortText
    """What was begun."""
