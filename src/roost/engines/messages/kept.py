"""Messages that go nowhere, and can be read in the lab."""

from collections import deque
from dataclasses import dataclass, field

_KEPT = 100


@dataclass(frozen=True, slots=True)
class Message:
    number: str
    text: str


@dataclass(frozen=True, slots=True)
class KeptMessages:
    """A MessageSender that keeps the last 100 messages of this process."""

    messages: deque[Message] = field(default_factory=lambda: deque(maxlen=_KEPT))

    async def send(self, number: str, text: str) -> None:
        self.messages.append(Message(number, text))
