"""The ticket and reply records (reference: Support ticket, Ticket reply)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.entities.records import Entity
from roost.core.formats import Created, Filtered, Id, Sought, Timestamp

TicketStatus = Literal["new", "open", "closed"]
TicketKind = Literal["support", "important", "abuse"]


class TicketRow(TypedDict):
    """What a user asked of support, or support of an account.

    `closable`: whether users may close it. `entity`: what it is about, as that was called when
    the ticket was opened; a VLAN has no id. `updated_by` is null until something happens to it.
    """

    id: Id
    attachments: list[str]
    """The names of the files that were attached."""
    closed: Filtered[Timestamp | None]
    """When it was closed (UTC); null while it is open."""
    closable: bool
    """Whether you may close it."""
    description: str
    """What was asked, as Markdown."""
    entity: Entity | None
    """What it is about, as that was called when the ticket was opened; null when nothing was named.
    """
    gravatar_id: str
    """The MD5 of the opener's email address, for a picture."""
    opened: Filtered[Timestamp]
    """When it was opened (UTC)."""
    opened_by: str
    """The user who opened it."""
    status: Sought[TicketStatus]
    """`new` until support has answered."""
    summary: str
    """The title."""
    updated: Filtered[Timestamp]
    """When something last happened to it (UTC)."""
    updated_by: str | None
    """Who did that; null until something has happened."""


class TicketReplyRow(TypedDict):
    """One answer; `from_compute` and `from_staff` are both true when staff wrote it."""

    id: Id
    created: Created
    created_by: str
    """Who wrote it."""
    description: str
    """The reply, as Markdown."""
    friendly_name: str
    """The writer's name for people."""
    from_compute: bool
    """True when staff wrote it."""
    from_staff: bool
    """True when staff wrote it."""
    gravatar_id: str
    """The MD5 of the writer's email address, for a picture."""
