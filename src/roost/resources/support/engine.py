"""What support needs from outside: a place for attachments, and somebody who carries emails."""

import asyncio
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Protocol

from roost.errors import ShownError

_LINES = 4
"""Emails on their way at one time: a server that hangs must not hold all slots of a worker."""


class AttachmentStoreError(Exception):
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


class AttachmentStore(Protocol):
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


class MailRefusedError(ShownError):
    """The mail server will never take this email."""


class MailError(ShownError):
    """The email was not sent; it may be later."""


class Mailer(Protocol):
    async def send(self, email: EmailMessage) -> None:
        """Hand over an email with its From and To. MailRefusedError or MailError."""
        ...


@dataclass(frozen=True, slots=True)
class Mail:
    """How emails leave, when they do."""

    mailer: Mailer
    sender: str
    """The address that they are from."""
    support: str | None
    """The address that customers' questions are sent to."""
    url: str | None
    """Where the server is reached, for links."""
    lines: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_LINES), repr=False)


@dataclass(frozen=True, slots=True)
class SupportServices:
    """What a process has for its support."""

    attachments: AttachmentStore
    mail: Mail | None
    quota: int
    """Bytes of all attachments of an account."""
