"""The notification record (reference: Notification)."""

from typing import Literal

from typing_extensions import TypedDict

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
    label: str | None
    type: EntityType
    url: str | None


class NotificationRow(TypedDict):
    """Something to know or to mend; `body` is Markdown, `when` to `until` the time it is about."""

    entity: NotifiedEntity | None
    label: str
    message: str
    body: str | None
    type: NotificationType
    severity: Literal["minor", "major", "critical"]
    when: str | None
    until: str | None
