"""What users are told of the tickets that staff opened for them (reference: Notification)."""

from roost.core.context import Context
from roost.core.notices import NotificationRow, NotificationType
from roost.resources.support import queries
from roost.resources.support.queries import TICKET, Ticket
from roost.resources.support.records import TicketKind

_TYPES: dict[TicketKind, tuple[NotificationType, str]] = {
    "important": ("ticket_important", "You have an important ticket open!"),
    "abuse": ("ticket_abuse", "You have an open abuse ticket!"),
}


async def tickets(context: Context) -> list[NotificationRow]:
    """An important or an abuse ticket is open."""
    return [_row(ticket) for ticket in await queries.urgent(context.db, context.account_id)]


def _row(ticket: Ticket) -> NotificationRow:
    type_, text = _TYPES[ticket.kind]
    return {
        "entity": {
            "id": ticket.id,
            "label": ticket.summary,
            "type": "ticket",
            "url": TICKET.url(ticket.id),
        },
        "label": text,
        "message": text,
        "body": None,
        "type": type_,
        "severity": "major",
        "when": None,
        "until": None,
    }
