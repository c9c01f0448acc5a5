"""The ticket and reply records (reference: Support ticket, Ticket reply)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.entities.records import Entity

TicketStatus = Literal["new", "open", "closed"]
TicketKind = Literal["support", "important", "abuse"]


class TicketRow(TypedDict):
    """What a user asked of support, or support of an account.

    `closable`: whether users may close it. `entity`: what it is about, as that was called when
    the ticket was opened; a VLAN has no id. `updated_by` is null until something happens to it.
    """

    id: int
    attachments: list[str]
    closed: str | None
    closable: bool
    description: str
    entity: Entity | None
    gravatar_id: str
    opened: str
    opened_by: str
    status: TicketStatus
    summary: str
    updated: str
    updated_by: str | None


class TicketReplyRow(TypedDict):
    """One answer; `from_compute` and `from_staff` are both true when staff wrote it."""

    id: int
    created: str
    created_by: str
    description: str
    friendly_name: str
    from_compute: bool
    from_staff: bool
    gravatar_id: str
