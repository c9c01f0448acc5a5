"""What letters need from outside: somebody who takes a webhook's messages."""

from dataclasses import dataclass
from typing import Literal, Protocol

from roost.core.engine import EngineError
from roost.core.planes import Engine, Plane

Channel = Literal["mail", "webhook"]


class WebhookError(EngineError):
    """The message was not taken; it may be later. The text has no part of the URL."""


class Webhook(Engine, Protocol):
    async def post(self, delivery: str, body: bytes) -> None:
        """Hand over JSON, signed; `delivery` is the same for each attempt. WebhookError."""
        ...


WEBHOOK_PLANE: Plane[Webhook] = Plane("webhook")
"""Not bound where no webhook is set."""


@dataclass(frozen=True, slots=True)
class Letters:
    """Whom the operator wants to be told."""

    address: str | None
    """Of emails; None: none are sent."""
    webhook: bool

    @property
    def channels(self) -> tuple[Channel, ...]:
        mail: tuple[Channel, ...] = () if self.address is None else ("mail",)
        return (*mail, "webhook") if self.webhook else mail
