"""A payment gateway that moves no money: test cards say how charges end, as gateways publish them.

A token says what becomes of its charges, so that next to nothing has to be kept.
"""

import secrets
from decimal import Decimal

from roost.resources.payments.engine import Card, DeclinedError, UndecidedError

REFUSED = "4000000000000127"
"""Cannot be added: its security code is wrong."""

DECLINED = {
    "4000000000000341": "declined",
    "4000000000009995": "insufficient_funds",
    "4000000000000069": "expired",
}
"""Can be added, and refuse each charge. All others are charged."""

SLOW = "4000000000000077"
"""Is charged when it is asked for the second time."""

_REASONS = {
    "declined": "The card was declined.",
    "insufficient_funds": "The card was declined: insufficient funds.",
    "expired": "The card was declined: it has expired.",
}


class SimulatedGateway:
    """For whoever tries out how payments end."""

    def __init__(self) -> None:
        self._asked: set[str] = set()
        """Keys of charges to slow cards; a process that starts anew asks once more."""

    async def store_card(self, card: Card) -> str:
        if card.number == REFUSED:
            raise DeclinedError("The security code is not the card's.")
        kind = "slow" if card.number == SLOW else DECLINED.get(card.number, "charged")
        return f"card-{secrets.token_hex(8)}-{kind}"

    async def charge(self, key: str, token: str, usd: Decimal) -> None:
        kind = token.rpartition("-")[2]
        if kind in _REASONS:
            raise DeclinedError(_REASONS[kind])
        if kind == "slow" and key not in self._asked:
            self._asked.add(key)
            raise UndecidedError("The bank has not decided yet.")
        self._asked.discard(key)

    async def cancel(self, key: str, token: str) -> None:
        """There is nothing to give back."""
        self._asked.discard(key)

    async def forget_card(self, token: str) -> None:
        """It keeps none."""
