"""A mail server that is spoken to for each email."""

from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from roost.core.engine import Health
from roost.resources.support.engine import MailError, MailRefusedError

_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
_TIMEOUT = 20.0
"""Seconds for each answer of the server."""


@dataclass(frozen=True, slots=True)
class SmtpMailer:
    """A Mailer."""

    host: str
    port: int
    tls: bool
    """From the first byte on."""
    starttls: bool
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    name: ClassVar[str] = "smtp"

    @classmethod
    def of(cls, url: str) -> "SmtpMailer":
        """`smtp://`, `smtp+starttls://` or `smtps://`, then `[user:password@]host[:port]`.

        User and password are percent-encoded. ValueError for anything else.
        """
        parts = urlsplit(url)
        rest = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme not in _PORTS or not parts.hostname or rest:
            raise ValueError("must be smtp://, smtp+starttls:// or smtps:// with a host")
        return cls(
            host=parts.hostname,
            port=parts.port or _PORTS[parts.scheme],
            tls=parts.scheme == "smtps",
            starttls=parts.scheme == "smtp+starttls",
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
        )

    async def health(self) -> Health:
        """Whether it greets; nothing is said that it could refuse."""
        # Slow to load, and not every cloud has a mail server.
        import aiosmtplib

        client = aiosmtplib.SMTP(
            hostname=self.host, port=self.port, use_tls=self.tls, start_tls=False, timeout=_TIMEOUT
        )
        try:
            await client.connect()
            await client.quit()
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            return Health(False, f"the mail server failed: {type(error).__name__}")
        return Health(True, "SMTP")

    async def close(self) -> None:
        """No connection outlives an email."""

    async def send(self, email: EmailMessage) -> None:
        import aiosmtplib

        try:
            await aiosmtplib.send(
                email,
                hostname=self.host,
                port=self.port,
                use_tls=self.tls,
                start_tls=self.starttls,
                username=self.username,
                password=self.password,
                timeout=_TIMEOUT,
            )
        except aiosmtplib.SMTPRecipientsRefused as error:
            refused = error.recipients[0]
            raise _refusal(refused.code, refused.message) from None
        except aiosmtplib.SMTPDataError as error:
            raise _refusal(error.code, error.message) from None
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            # What the server says may be what it was sent, such as a password.
            raise MailError(f"the mail server failed: {type(error).__name__}") from None


def _refusal(code: int, message: str) -> MailError | MailRefusedError:
    """Whether the server may think otherwise later (RFC 5321, 4.2.1)."""
    text = f"the mail server refused the email: {code} {message}"
    return MailRefusedError(text) if code >= 500 else MailError(text)
