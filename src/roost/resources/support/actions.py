"""What happens to a ticket, whoever does it; the rows are locked."""

from roost.core.events import log
from roost.jobs.queue import JobQueue
from roost.resources.support import queries
from roost.resources.support.entity import TICKET
from roost.resources.support.jobs import write_to
from roost.resources.support.queries import NewReply, NewTicket, Ticket
from roost.store import Queries


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
    actor = log.Actor(ticket.account_id, username)
    entity = TICKET.entity(ticket.id, ticket.summary)
    await log.add(db, queue.clock.now(), actor, action, entity)
