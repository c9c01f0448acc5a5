"""Tickets: what a new one is about, and what users and operators do with one."""

from roost.core import account_queries as accounts
from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.core.events import log
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.support import queries
from roost.resources.support.bodies import About
from roost.resources.support.jobs import write_to
from roost.resources.support.queries import TICKET, NewReply, NewTicket, Ticket
from roost.resources.support.records import TicketKind
from roost.resources.users.rules import gravatar_id
from roost.resources.vlans import service as vlans
from roost.store import Queries


async def find_entity(
    context: Context, named: tuple[str, int] | None, vlan: tuple[str, str] | None
) -> Entity | None:
    """What a field names, or a VLAN by label and region, as it is called now.

    ApiError 400 when it is gone.
    """
    if named is not None:
        field, entity_id = named
        found = await About(field).find(context, [entity_id])
        if entity_id not in found:
            raise invalid(f"{field} is not valid", field)
        return found[entity_id]
    if vlan is None:
        return None
    label, region = vlan
    return await vlans.find(context, region, label)


async def open_ticket(db: Queries, queue: JobQueue, new: NewTicket) -> int:
    """A ticket of a user is told to staff, one of staff to the account."""
    ticket_id = await queries.insert(db, new, queue.clock.seconds())
    ticket = await queries.find(db, ticket_id)
    assert ticket is not None
    by_staff = new.opener_id is None
    username = None if by_staff else new.opened_by
    await notify(db, queue, ticket, "ticket_create", username)
    await write_to(db, queue, ticket, None, staff=not by_staff)
    return ticket_id


async def reply_to(db: Queries, queue: JobQueue, ticket: Ticket, new: NewReply) -> int:
    """A user's reply is told to staff, the staff's to the user; their first one opens it."""
    now = queue.clock.seconds()
    reply_id = await queries.insert_reply(db, ticket.id, new, now)
    if new.from_staff and ticket.status == "new":
        await queries.set_open(db, ticket.id)
    await queries.touch(db, ticket.id, new.created_by, now)
    username = None if new.from_staff else new.created_by
    await notify(db, queue, ticket, "ticket_update", username)
    await write_to(db, queue, ticket, reply_id, staff=not new.from_staff)
    return reply_id


async def close(
    db: Queries, queue: JobQueue, ticket: Ticket, name: str, *, by_staff: bool = False
) -> None:
    now = queue.clock.seconds()
    await queries.close(db, ticket.id, now)
    await queries.touch(db, ticket.id, name, now)
    await notify(db, queue, ticket, "ticket_update", None if by_staff else name)


async def notify(
    db: Queries, queue: JobQueue, ticket: Ticket, action: str, username: str | None
) -> None:
    """An event; what staff does is nobody's of the account."""
    by = log.Starter(queue, db, ticket.account_id, username)
    await log.notify(by, action, TICKET.entity(ticket.id, ticket.summary))


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
    return await open_ticket(db, queue, new)


async def reply_as_staff(db: Queries, queue: JobQueue, ticket_id: int, text: str, name: str) -> int:
    """The id of the reply. Raises TicketError."""
    ticket = await _lock_open(db, ticket_id)
    new = NewReply(text, name, gravatar_id(""), from_staff=True)
    return await reply_to(db, queue, ticket, new)


async def close_as_staff(db: Queries, queue: JobQueue, ticket_id: int, name: str) -> None:
    """Also one that its user may not close. Raises TicketError."""
    ticket = await _lock_open(db, ticket_id)
    await close(db, queue, ticket, name, by_staff=True)


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
