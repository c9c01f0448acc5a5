"""Emails as jobs: who writes to a ticket never waits for a mail server, and none is lost.

An email that the server does not take is tried again for some days; one that it refuses for good
fails the job. Nothing is sent while no mail server is set.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from functools import partial

import structlog

from roost.core import account_queries as accounts
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict
from roost.resources.support import queries
from roost.resources.support.engine import Mail
from roost.resources.support.mail_service import PATIENCE, automatic, send
from roost.resources.support.queries import TICKET, Reply, Ticket
from roost.store import Queries

_NOT_IN_HEADERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Message:
    """What an email is about."""

    ticket: Ticket
    reply: Reply | None
    to_staff: bool
    written: datetime


def compose(mail: Mail, message: Message, address: str) -> EmailMessage:
    """The email of a reply, the same for each attempt; emails of a ticket are one thread."""
    thread = name = _name(message, f"ticket-{message.ticket.id}", message.ticket.opened)
    if message.reply is not None:
        name = _name(message, f"reply-{message.reply.id}", message.reply.created)
    return automatic(
        mail,
        address,
        _subject(message.ticket),
        message.written,
        name,
        _text(mail, message),
        None if message.reply is None else thread,
    )


def _subject(ticket: Ticket) -> str:
    """`=?` would begin an encoded word, which may hold line ends."""
    plain = _NOT_IN_HEADERS.sub(" ", ticket.summary).replace("=?", "= ?")
    return f"[Ticket {ticket.id}] {plain.strip()}"


def _name(message: Message, name: str, written: datetime) -> str:
    """The time tells installations with one sender apart, and what was before a lab's reset."""
    return f"{name}.{written:%Y%m%d%H%M%S}.{'staff' if message.to_staff else 'user'}"


def _text(mail: Mail, message: Message) -> str:
    ticket, reply = message.ticket, message.reply
    wrote = f"{ticket.opened_by} opened ticket {ticket.id}: {ticket.summary}"
    if reply is not None:
        wrote = f"{reply.created_by} replied to ticket {ticket.id}: {ticket.summary}"
    said = ticket.description if reply is None else reply.description
    of_account = f"Account {ticket.account_id}\n" if message.to_staff else ""
    link = f"{mail.url}{TICKET.url(ticket.id)}\n" if mail.url else ""
    return f"{wrote}\n\n{said}\n\n-- \n{of_account}{link}"


_log = structlog.get_logger(__name__)


class MailArgs(JobArgs):
    ticket_id: int
    reply_id: int | None
    """None: the email is about the new ticket."""
    to_staff: bool


async def _send(run: Run[MailArgs]) -> Verdict:
    """An email that was sent before a crash goes out again, under the same Message-ID."""
    return await send(run, partial(_compose, run))


async def _compose(run: Run[MailArgs], mail: Mail) -> EmailMessage | None:
    ticket = await queries.find(run.store, run.args.ticket_id)
    if ticket is None:
        return None
    address = await _address(run, mail, ticket)
    if address is None:
        return None
    reply_id = run.args.reply_id
    reply = None if reply_id is None else await queries.find_reply(run.store, reply_id)
    message = Message(ticket, reply, run.args.to_staff, run.job.created)
    return compose(mail, message, address)


async def _address(run: Run[MailArgs], mail: Mail, ticket: Ticket) -> str | None:
    """None when nobody wants the email."""
    if run.args.to_staff:
        return mail.support
    if ticket.opener_id is None:
        return await accounts.find_email(run.store, ticket.account_id)
    return await accounts.find_mail_address(run.store, ticket.opener_id)


async def _on_failed(db: Queries, job: Job, args: MailArgs) -> None:
    _log.error("ticket_mail_failed", ticket=args.ticket_id, reply=args.reply_id, error=job.error)


SEND = JobKind(
    "ticket_mail",
    MailArgs,
    steps=(Step("send", _send),),
    retry=PATIENCE,
    on_failed=_on_failed,
)


async def write_to(
    db: Queries, queue: JobQueue, ticket: Ticket, reply_id: int | None, *, staff: bool
) -> None:
    """Have an email about a ticket or a reply sent to staff, or to the user who opened it."""
    args = MailArgs(ticket_id=ticket.id, reply_id=reply_id, to_staff=staff)
    await queue.enqueue(db, SEND, args, account_id=ticket.account_id)
