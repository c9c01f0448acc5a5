"""What operators do with tickets of any account."""

from roost.jobs.queue import JobQueue
from roost.resources.account import queries as accounts
from roost.resources.support import actions, queries
from roost.resources.support.queries import NewReply, NewTicket, Ticket
from roost.resources.support.records import TicketKind
from roost.resources.users.gravatars import gravatar_id
from roost.store import Queries


class TicketError(Exception):
    """What an operator asked for makes no sense."""


async def open_for(
    db: Queries,
    queue: JobQueue,
    account_id: int,
    kind: TicketKind,
    summary: str,
    description: str,
    name: str,
    closable: bool,
) -> int:
    """A ticket that staff opens for an account; its id. Raises TicketError."""
    if not await accounts.exists(db, account_id):
        raise TicketError(f"there is no account {account_id}")
    new = NewTicket(
        account_id=account_id,
        kind=kind,
        summary=summary,
        description=description,
        entity=None,
        region=None,
        opened_by=name,
        opener_id=None,
        gravatar_id=gravatar_id(""),
        closable=closable,
    )
    return await actions.open_ticket(db, queue, new)


async def reply(db: Queries, queue: JobQueue, ticket_id: int, text: str, name: str) -> int:
    """The id of the reply. Raises TicketError."""
    ticket = await _lock_open(db, ticket_id)
    new = NewReply(text, name, gravatar_id(""), from_staff=True)
    return await actions.reply_to(db, queue, ticket, new)


async def close(db: Queries, queue: JobQueue, ticket_id: int, name: str) -> None:
    """Also one that its user may not close. Raises TicketError."""
    ticket = await _lock_open(db, ticket_id)
    await actions.close(db, queue, ticket, name, by_staff=True)


async def assign(db: Queries, ticket_id: int, name: str | None) -> None:
    """Say who looks after it, which users do not see. Raises TicketError."""
    ticket = await _lock_open(db, ticket_id)
    await queries.assign(db, ticket.id, name)


async def _lock_open(db: Queries, ticket_id: int) -> Ticket:
    ticket = await queries.lock_any(db, ticket_id)
    if ticket is None:
        raise TicketError(f"there is no ticket {ticket_id}")
    if ticket.status == "closed":
        raise TicketError(f"ticket {ticket_id} is closed")
    return ticket
