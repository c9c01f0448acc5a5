"""Letters about tickets: plain text, and headers that no text of a user can get out of."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from roost.resources.support.engine import Post
from roost.resources.support.entity import TICKET
from roost.resources.support.queries import Reply, Ticket

_NOT_IN_HEADERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Matter:
    """What a letter is about."""

    ticket: Ticket
    reply: Reply | None
    to_staff: bool
    written: datetime


def compose(post: Post, matter: Matter, address: str) -> EmailMessage:
    """The same for each attempt; letters of a ticket are one thread."""
    letter = EmailMessage(policy=SMTP)
    letter["From"] = Address(addr_spec=post.sender)
    letter["To"] = Address(addr_spec=address)
    letter["Subject"] = _subject(matter.ticket)
    letter["Date"] = format_datetime(matter.written.replace(microsecond=0, tzinfo=UTC))
    domain = post.sender.rpartition("@")[2]
    thread = f"<ticket-{matter.ticket.id}.{_whom(matter)}@{domain}>"
    if matter.reply is None:
        letter["Message-ID"] = thread
    else:
        letter["Message-ID"] = f"<reply-{matter.reply.id}.{_whom(matter)}@{domain}>"
        letter["In-Reply-To"] = thread
        letter["References"] = thread
    letter["Auto-Submitted"] = "auto-generated"
    letter.set_content(_text(post, matter), cte="base64")
    return letter


def _subject(ticket: Ticket) -> str:
    """`=?` would begin an encoded word, which may hold line ends."""
    plain = _NOT_IN_HEADERS.sub(" ", ticket.summary).replace("=?", "= ?")
    return f"[Ticket {ticket.id}] {plain.strip()}"


def _whom(matter: Matter) -> str:
    return "staff" if matter.to_staff else "user"


def _text(post: Post, matter: Matter) -> str:
    ticket, reply = matter.ticket, matter.reply
    wrote = f"{ticket.opened_by} opened ticket {ticket.id}: {ticket.summary}"
    if reply is not None:
        wrote = f"{reply.created_by} replied to ticket {ticket.id}: {ticket.summary}"
    said = ticket.description if reply is None else reply.description
    of_account = f"Account {ticket.account_id}\n" if matter.to_staff else ""
    return f"{wrote}\n\n{said}\n\n-- \n{of_account}{post.url or ''}{TICKET.url(ticket.id)}\n"
