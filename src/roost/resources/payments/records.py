"""Records of payments (reference: Payment, Payment method)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Timestamp


class CardRow(TypedDict):
    """What is shown of a card."""

    card_type: str
    """Whose card it is: `Visa`, `MasterCard`, …"""
    last_four: str
    """The last digits of its number."""
    expiry: str
    """The last month in which it can be used, as `MM/YYYY`."""


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


class PaymentRow(TypedDict):
    """What an account has paid, or is paying."""

    id: Id
    date: Timestamp
    """When (UTC)."""
    usd: float
    """US dollars."""
