"""A payment gateway that remembers what it has charged."""

from decimal import Decimal

from roost.resources.payments.engine import Card


class RecordingGateway:
    def __init__(self) -> None:
        self.held: dict[str, Decimal] = {}
        """By key what was charged and not given back."""
        self.forgotten: list[str] = []

    async def store_card(self, card: Card) -> str:
        return f"card ending in {card.number[-4:]}"

    async def charge(self, key: str, token: str, usd: Decimal) -> None:
        self.held[key] = usd

    async def cancel(self, key: str, token: str) -> None:
        self.held.pop(key, None)

    async def forget_card(self, token: str) -> None:
        self.forgotten.append(token)
