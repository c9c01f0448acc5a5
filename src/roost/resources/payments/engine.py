"""What payments need from outside: a gateway that keeps cards and charges them."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from roost.errors import ShownError


class DeclinedError(ShownError):
    """The gateway refuses a card or a charge, and would again; users read why."""


class GatewayError(ShownError):
    """The gateway cannot be reached or does not answer: nobody knows whether it has charged."""


class UndecidedError(GatewayError):
    """The gateway has taken the charge on, and does not know yet whether it succeeds."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a card is charged with. It goes to the gateway, and is kept nowhere else."""

    number: str = field(repr=False)
    cvv: str = field(repr=False)
    expiry_month: int
    expiry_year: int


class Gateway(Protocol):
    """Somebody who charges cards."""

    async def store_card(self, card: Card) -> str:
        """The token by which the gateway knows the card from now on. Raises DeclinedError and
        GatewayError."""

    async def charge(self, key: str, token: str, usd: Decimal) -> None:
        """Charge a card in US dollars, once for each key however often it is called.

        Raises DeclinedError, UndecidedError when it is to be asked again later, and GatewayError
        when it may have happened.
        """

    async def cancel(self, key: str, token: str) -> None:
        """Give back what was charged to a card with this key, if anything was. Raises
        GatewayError."""

    async def forget_card(self, token: str) -> None:
        """Keep a card no longer, if it is kept. Raises GatewayError."""


@dataclass(frozen=True, slots=True)
class Gateways:
    """How cards are charged, if they are."""

    gateway: Gateway | None
    """None: the operator records what accounts have paid."""
