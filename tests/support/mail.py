"""A real SMTP server that keeps what it is given."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

STAFF = "help@cloud.example.com"
OPERATOR = "root@cloud.example.com"
SENDER = "support@cloud.example.com"
NOT_NOW, NEVER = "later@example.com", "nobody@example.com"
"""Recipients whom the server refuses, for now or for good."""

Peer = Any  # aiosmtpd has no types.


@dataclass
class MailServer:
    port: int = 0
    emails: list[EmailMessage] = field(default_factory=list)
    envelopes: list[tuple[str, list[str]]] = field(default_factory=list)
    busy: bool = False
    """It then takes no email, for now."""

    def to(self, address: str) -> list[EmailMessage]:
        return [email for email in self.emails if email["To"] == address]

    async def handle_RCPT(  # noqa: N802
        self, server: Peer, session: Peer, envelope: Peer, address: str, options: list[str]
    ) -> str:
        if address in (NOT_NOW, NEVER):
            return "450 later" if address == NOT_NOW else "550 unknown"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Peer, session: Peer, envelope: Peer) -> str:  # noqa: N802
        if self.busy:
            return "451 busy"
        email = message_from_bytes(envelope.content, policy=default)
        assert isinstance(email, EmailMessage)
        self.emails.append(email)
        self.envelopes.append((envelope.mail_from, envelope.rcpt_tos))
        return "250 OK"


def authenticate(server: Peer, session: Peer, envelope: Peer, mechanism: str, data: Peer) -> Peer:
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"me@x", b"p:w/d")
    return AuthResult(success=right, handled=False)


@asynccontextmanager
async def mail_server(
    tls: ssl.SSLContext | None = None, *, starttls: bool = False, port: int = 0
) -> AsyncIterator[MailServer]:
    """On a port of this machine until the end of the block."""
    kept, loop = MailServer(), asyncio.get_running_loop()

    def peer() -> Peer:
        return SMTP(
            kept,
            loop=loop,
            hostname="mail.example.com",
            tls_context=tls if starttls else None,
            require_starttls=starttls,
            auth_required=tls is not None,
            auth_require_tls=starttls,
            authenticator=authenticate,
        )

    direct = None if starttls else tls
    server = await loop.create_server(peer, "127.0.0.1", port, ssl=direct)
    kept.port = server.sockets[0].getsockname()[1]
    try:
        yield kept
    finally:
        server.close()
