"""What support needs from outside: a place for attachments, and somebody who carries emails."""

import asyncio
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Protocol

from roost.core.engine import EngineError
from roost.core.planes import Engine, Plane

_LINES = 4
"""Emails on their way at one time: a server that hangs must not hold all slots of a worker."""


class AttachmentStoreError(EngineError):
    """The place of attachments does not answer, or refuses; the text says why."""


class AttachmentMissingError(AttachmentStoreError):
    """There is no such file."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    key: str
    size: int
    """Bytes."""
    age: float
    """Seconds of real time since it was written."""


class AttachmentStore(Engine, Protocol):
    """Files under keys of 32 hex digits. Methods raise AttachmentStoreError."""

    async def put(self, key: str, content: bytes) -> None:
        """Whole and durable when it returns; not there, or a draft with an age, when it fails."""
        ...

    async def get(self, key: str) -> bytes:
        """AttachmentMissingError when there is none."""
        ...

    async def delete(self, key: str) -> None:
        """Nothing happens when there is none."""
        ...

    async def list(self) -> list[StoredFile]:
        """All files in the order of their keys, drafts among them."""
        ...


class MailRefusedError(EngineError):
    """The mail server will never take this email."""


class MailError(EngineError):
    """The email was not sent; it may be later."""


class Mailer(Engine, Protocol):
    async def send(self, email: EmailMessage) -> None:
        """Hand over an email with its From and To. MailRefusedError or MailError."""
        ...


ATTACHMENT_PLANE: Plane[AttachmentStore] = Plane("attachments")
MAIL_PLANE: Plane[Mailer] = Plane("mail")
"""Not bound where no mail server is set."""


@dataclass(frozen=True, slots=True)
class Mail:
    """Whom emails are from, and what they say of the server."""

    sender: str
    """The address that they are from."""
    support: str | None
    """The address that customers' questions are sent to."""
    url: str | None
    """Where the server is reached, for links."""
    lines: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_LINES), repr=False)


@dataclass(frozen=True, slots=True)
class SupportRules:
    """What the operator has set."""

    mail: Mail | None
    """None: nothing is sent."""
    quota: int
    """Bytes of all attachments of an account."""
