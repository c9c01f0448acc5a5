"""Emails about tickets: plain text, and headers that no text of a user can get out of."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from roost.resources.support.engine import Mail
from roost.resources.support.entity import TICKET
from roost.resources.support.queries import Reply, Ticket

_NOT_IN_HEADERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Matter:
    """What an email is about."""

    ticket: Ticket
    reply: Reply | None
    to_staff: bool
    written: datetime


def compose(mail: Mail, matter: Matter, address: str) -> EmailMessage:
    """The same for each attempt; emails of a ticket are one thread."""
    email = EmailMessage(policy=SMTP)
    email["From"] = Address(addr_spec=mail.sender)
    email["To"] = Address(addr_spec=address)
    email["Subject"] = _subject(matter.ticket)
    email["Date"] = format_datetime(matter.written.replace(microsecond=0, tzinfo=UTC))
    thread = _message_id(mail, matter, f"ticket-{matter.ticket.id}", matter.ticket.opened)
    if matter.reply is None:
        email["Message-ID"] = thread
    else:
        name = f"reply-{matter.reply.id}"
        email["Message-ID"] = _message_id(mail, matter, name, matter.reply.created)
        email["In-Reply-To"] = thread
        email["References"] = thread
    email["Auto-Submitted"] = "auto-generated"
    email.set_content(_text(mail, matter), cte="base64")
    return email


def _subject(ticket: Ticket) -> str:
    """`=?` would begin an encoded word, which may hold line ends."""
    plain = _NOT_IN_HEADERS.sub(" ", ticket.summary).replace("=?", "= ?")
    return f"[Ticket {ticket.id}] {plain.strip()}"


def _message_id(mail: Mail, matter: Matter, name: str, written: datetime) -> str:
    """The time tells installations with one sender apart, and what was before a lab's reset."""
    whom, domain = "staff" if matter.to_staff else "user", mail.sender.rpartition("@")[2]
    return f"<{name}.{written:%Y%m%d%H%M%S}.{whom}@{domain}>"


def _text(mail: Mail, matter: Matter) -> str:
    ticket, reply = matter.ticket, matter.reply
    wrote = f"{ticket.opened_by} opened ticket {ticket.id}: {ticket.summary}"
    if reply is not None:
        wrote = f"{reply.created_by} replied to ticket {ticket.id}: {ticket.summary}"
    said = ticket.description if reply is None else reply.description
    of_account = f"Account {ticket.account_id}\n" if matter.to_staff else ""
    link = f"{mail.url}{TICKET.url(ticket.id)}\n" if mail.url else ""
    return f"{wrote}\n\n{said}\n\n-- \n{of_account}{link}"
