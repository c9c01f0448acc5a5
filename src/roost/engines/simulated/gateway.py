"""A payment gateway that moves no money: test cards say how charges end, as gateways publish them.

A token says what becomes of its charges, so that nothing has to be kept.
"""

import secrets
from decimal import Decimal

from roost.resources.payments.engine import Card, DeclinedError

REFUSED = "4000000000000127"
"""Cannot be added: its security code is wrong."""

DECLINED = {
    "4000000000000341": "declined",
    "4000000000009995": "insufficient_funds",
    "4000000000000069": "expired",
}
"""Can be added, and refuse each charge. All others are charged."""

_REASONS = {
    "declined": "The card was declined.",
    "insufficient_funds": "The card was declined: insufficient funds.",
    "expired": "The card was declined: it has expired.",
}


class SimulatedGateway:
    """For whoever tries out how payments end."""

    async def store_card(self, card: Card) -> str:
        if card.number == REFUSED:
            raise DeclinedError("The security code is not the card's.")
        return f"card-{secrets.token_hex(8)}-{DECLINED.get(card.number, 'charged')}"

    async def charge(self, key: str, token: str, usd: Decimal) -> None:
        reason = _REASONS.get(token.rpartition("-")[2])
        if reason is not None:
            raise DeclinedError(reason)

    async def cancel(self, key: str) -> None:
        """There is nothing to give back."""
