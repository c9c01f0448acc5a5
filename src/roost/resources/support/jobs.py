"""Emails as jobs: who writes to a ticket never waits for a mail server, and none is lost.

An email that the server does not take is tried again for some days; one that it refuses for good
fails the job. Nothing is sent while no mail server is set.
"""

from email.errors import MessageError

import structlog

from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step
from roost.resources.account import queries as accounts
from roost.resources.support import queries
from roost.resources.support.emails import Matter, compose
from roost.resources.support.engine import (
    MAIL_PLANE,
    Mail,
    MailError,
    MailRefusedError,
    SupportRules,
)
from roost.resources.support.queries import Ticket
from roost.resources.users import queries as users
from roost.store import Queries

_log = structlog.get_logger(__name__)
_BUSY = 10.0
"""Seconds until an email looks again for a free line to the mail server."""


class MailArgs(JobArgs):
    ticket_id: int
    reply_id: int | None
    """None: the email is about the new ticket."""
    to_staff: bool


async def _send(run: Run[MailArgs]) -> Verdict:
    """An email that was sent before a crash goes out again, under the same Message-ID."""
    mail = run.get(SupportRules).mail
    if mail is None:
        return next_step()
    if mail.lines.locked():
        if run.attempt == 1:
            return again(_BUSY)
        raise MailError("other emails wait for the mail server")  # Keeps count of the attempts.
    async with mail.lines:
        return await _send_by(mail, run)


async def _send_by(mail: Mail, run: Run[MailArgs]) -> Verdict:
    ticket = await queries.find(run.store, run.args.ticket_id)
    if ticket is None:
        return next_step()
    address = await _address(run, mail, ticket)
    if address is None:
        return next_step()
    reply_id = run.args.reply_id
    reply = None if reply_id is None else await queries.find_reply(run.store, reply_id)
    matter = Matter(ticket, reply, run.args.to_staff, run.job.created)
    try:
        email = compose(mail, matter, address)
    except (MessageError, ValueError, LookupError) as error:
        raise Fatal(f"no email can be written to this address: {type(error).__name__}") from error
    try:
        await run.get(Engines).of(MAIL_PLANE).send(email)
    except MailRefusedError as error:
        raise Fatal(str(error)) from error
    return next_step()


async def _address(run: Run[MailArgs], mail: Mail, ticket: Ticket) -> str | None:
    """None when nobody wants the email."""
    if run.args.to_staff:
        return mail.support
    if ticket.opener_id is None:
        return await accounts.find_email(run.store, ticket.account_id)
    return await users.find_mail_address(run.store, ticket.opener_id)


async def _on_failed(db: Queries, job: Job, args: MailArgs) -> None:
    _log.error("ticket_mail_failed", ticket=args.ticket_id, reply=args.reply_id, error=job.error)


SEND = JobKind(
    "ticket_mail",
    MailArgs,
    steps=(Step("send", _send),),
    retry=Retry(attempts=150, base=5.0, longest=3600.0),
    on_failed=_on_failed,
)


async def write_to(
    db: Queries, queue: JobQueue, ticket: Ticket, reply_id: int | None, *, staff: bool
) -> None:
    """Have an email about a ticket or a reply sent to staff, or to the user who opened it."""
    args = MailArgs(ticket_id=ticket.id, reply_id=reply_id, to_staff=staff)
    await queue.enqueue(db, SEND, args, account_id=ticket.account_id)
