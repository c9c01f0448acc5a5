"""How a job hands an email to the mail server, whatever the email is about."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import TypeVar

from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, Retry
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step
from roost.resources.support.engine import (
    MAIL_PLANE,
    Mail,
    MailError,
    MailRefusedError,
    SupportRules,
)

Args = TypeVar("Args", bound=JobArgs)
PATIENCE = Retry(attempts=150, base=5.0, longest=3600.0)
"""About four days."""
_BUSY = 10.0
"""Seconds until an email looks again for a free line to the mail server."""


def automatic(
    mail: Mail,
    address: str,
    subject: str,
    written: datetime,
    name: str,
    text: str,
    replies_to: str | None = None,
) -> EmailMessage:
    """An email that nobody wrote by hand, with a `name` that is its own; the same each time (UTC).

    ValueError or an error of `email` for a bad address.
    """
    domain = mail.sender.rpartition("@")[2]
    email = EmailMessage(policy=SMTP)
    email["From"] = Address(addr_spec=mail.sender)
    email["To"] = Address(addr_spec=address)
    email["Subject"] = subject
    email["Date"] = format_datetime(written.replace(microsecond=0, tzinfo=UTC))
    email["Message-ID"] = f"<{name}@{domain}>"
    if replies_to is not None:
        email["In-Reply-To"] = email["References"] = f"<{replies_to}@{domain}>"
    email["Auto-Submitted"] = "auto-generated"
    email.set_content(text, cte="base64")
    return email


async def send(
    run: Run[Args], compose: Callable[[Mail], Awaitable[EmailMessage | None]]
) -> Verdict:
    """An email that was sent before a crash goes out again. Nothing is sent while no mail server is
    set, or when `compose` has none; Fatal for one that cannot be written or is refused for good."""
    mail = run.get(SupportRules).mail
    if mail is None:
        return next_step()
    if mail.lines.locked():
        if run.attempt == 1:
            return again(_BUSY)
        raise MailError("other emails wait for the mail server")  # Keeps count of the attempts.
    async with mail.lines:
        try:
            email = await compose(mail)
        except (MessageError, ValueError, LookupError) as error:
            raise Fatal(
                f"no email can be written to this address: {type(error).__name__}"
            ) from error
        if email is not None:
            await _hand_over(run, email)
    return next_step()


async def _hand_over(run: Run[Args], email: EmailMessage) -> None:
    try:
        await run.get(Engines).of(MAIL_PLANE).send(email)
    except MailRefusedError as error:
        raise Fatal(str(error)) from error
