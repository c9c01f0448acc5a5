"""Records of payments (reference: Payment, Payment method)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp, example


class CardRow(TypedDict):
    """What is shown of a card."""

    card_type: str
    """Whose card it is: `Visa`, `MasterCard`, …"""
    last_four: str
    """The last digits of its number."""
    expiry: str
    """The last month in which it can be used, as `MM/YYYY`."""


@example(
    {
        "id": 100000,
        "type": "credit_card",
        "is_default": True,
        "created": "2030-01-01T00:00:00",
        "data": {"card_type": "Visa", "last_four": "4242", "expiry": "12/2035"},
    },
)
class MethodRow(TypedDict):
    """Something that an account pays with."""

    id: Id
    type: Literal["credit_card"]
    """What it is."""
    is_default: bool
    """Whether it pays what nothing else was named for."""
    created: Created
    data: CardRow
    """The card."""


@example({"id": 100000, "date": "2030-02-03T00:00:00", "usd": 25.0})
class PaymentRow(TypedDict):
    """What an account has paid, or is paying."""

    id: Id
    date: Timestamp
    """When (UTC)."""
    usd: float
    """US dollars."""
