"""The ticket and reply records (reference: Support ticket, Ticket reply)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.entities.records import Entity
from roost.core.formats import Created, Filtered, Id, Sought, Timestamp, example

TicketStatus = Literal["new", "open", "closed"]
TicketKind = Literal["support", "important", "abuse"]


@example(
    {
        "id": 100001,
        "attachments": ["screenshot.png"],
        "closed": None,
        "closable": True,
        "description": "Since this morning nothing answers.",
        "entity": {
            "id": 100001,
            "label": "web-1",
            "type": "compute",
            "url": "/v4/compute/instances/100001",
        },
        "gravatar_id": "9e26471d35a78862c17e467d87cddedf",
        "opened": "2030-01-31T12:00:00",
        "opened_by": "ada",
        "status": "open",
        "summary": "No connection",
        "updated": "2030-01-31T12:30:00",
        "updated_by": "support",
    },
)
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


@example(
    {
        "id": 100002,
        "created": "2030-01-31T12:30:00",
        "created_by": "support",
        "description": "We look into it.",
        "friendly_name": "support",
        "from_compute": True,
        "from_staff": True,
        "gravatar_id": "9e26471d35a78862c17e467d87cddedf",
    },
)
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
