"""What phone numbers need from outside: somebody who carries text messages."""

from dataclasses import dataclass
from typing import Protocol

from roost.errors import ShownError


class MessageError(ShownError):
    """A message was not sent; the text says why, to the operator's log."""


class MessageSender(Protocol):
    """Carries text messages; the operator's program, or the lab, which keeps them."""

    async def send(self, number: str, text: str) -> None:
        """To a number as in E.164, such as `+15555550142`. MessageError when it is not sent."""


@dataclass(frozen=True, slots=True)
class Messages:
    """How messages leave, if they do."""

    sender: MessageSender | None
