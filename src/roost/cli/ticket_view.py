"""Tickets for a terminal: what users wrote cannot command it."""

from collections.abc import Iterator

import orjson

from roost.app.table import escape, line
from roost.resources.support import queries
from roost.resources.support.queries import Ticket
from roost.resources.support.service import TicketError
from roost.store import Queries


async def describe(db: Queries, ticket_id: int) -> str:
    """Raises TicketError."""
    ticket = await queries.find(db, ticket_id)
    if ticket is None:
        raise TicketError(f"there is no ticket {ticket_id}")
    parts = [*_head(ticket), "", escape(ticket.description)]
    for file in await queries.attachments_of(db, ticket_id):
        parts += ["", f"attachment {file.id}: {line(file.name)} ({file.size} bytes)"]
    for reply in await queries.list_replies(db, ticket_id):
        who = " (staff)" if reply.from_staff else ""
        parts += [
            "",
            f"--- {reply.created.isoformat()} {line(reply.created_by)}{who}",
            "",
            escape(reply.description),
        ]
    return "\n".join(parts)


def _head(ticket: Ticket) -> Iterator[str]:
    yield f"ticket {ticket.id}: {line(ticket.summary)}"
    yield f"account {ticket.account_id}, {ticket.status}, {ticket.kind}"
    yield f"opened {ticket.opened.isoformat()} by {line(ticket.opened_by)}"
    if ticket.closed is not None:
        yield f"closed {ticket.closed.isoformat()}"
    if ticket.assignee is not None:
        yield f"assigned to {line(ticket.assignee)}"
    if ticket.entity is not None:
        entity = orjson.loads(ticket.entity)
        where = f" in {ticket.region}" if ticket.region else ""
        yield f"about {entity['type']} {entity['id'] or ''} {line(entity['label'])}{where}"
