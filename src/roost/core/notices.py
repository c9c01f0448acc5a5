"""Notifications (reference: Notification), and why accounts have them.

A group declares its causes in its `notices.py` and its manifest. They are asked each time, so that
nothing is out of date.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

from typing_extensions import TypedDict

from roost.core.context import Context
from roost.core.formats import Timestamp, UriReference

NotificationType = Literal[
    "migration_scheduled",
    "migration_imminent",
    "migration_pending",
    "reboot_scheduled",
    "outage",
    "payment_due",
    "ticket_important",
    "ticket_abuse",
    "notice",
    "maintenance",
    "promotion",
]
EntityType = Literal[
    "account",
    "entity_transfer",
    "compute",
    "nodebalancer",
    "promotion",
    "region",
    "ticket",
    "volume",
]


class NotifiedEntity(TypedDict):
    """What a notification is about; accounts and regions have no number as id."""

    id: int | None
    """Its id; null for what has no number."""
    label: str | None
    """Its label; null for what has none."""
    type: EntityType
    """What kind of thing it is."""
    url: UriReference | None
    """The path that shows it; null when none does."""


class NotificationRow(TypedDict):
    """Something to know or to mend; `body` is Markdown, `when` to `until` the time it is about."""

    entity: NotifiedEntity | None
    """What it is about; null for the account as a whole."""
    label: str
    """What kind of notification it is, for people."""
    message: str
    """What there is to know."""
    body: str | None
    """More, as Markdown; null when the message says all."""
    type: NotificationType
    """What kind of notification it is, for programs."""
    severity: Literal["minor", "major", "critical"]
    """How pressing it is."""
    when: Timestamp | None
    """When what it is about begins or began (UTC); null when there is no such time."""
    until: Timestamp | None
    """When that ends (UTC); null when unknown."""


Cause = Callable[[Context], Awaitable[list[NotificationRow]]]
"""What one cause has to say to the caller's account now, in a stable order."""
_SEVERITIES = ("critical", "major", "minor")


class Causes:
    """All causes of an installation."""

    def __init__(self, *causes: Cause) -> None:
        self._causes = causes

    async def notifications(self, context: Context) -> list[NotificationRow]:
        """The most pressing first."""
        rows = [row for cause in self._causes for row in await cause(context)]
        return sorted(rows, key=lambda row: _SEVERITIES.index(row["severity"]))
