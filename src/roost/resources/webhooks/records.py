"""Records of webhooks and of their deliveries."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Timestamp, Updated, Uri

WebhookStatus = Literal["active", "failing", "disabled"]
DeliveryStatus = Literal["delivered", "failed"]


class WebhookRow(TypedDict):
    """A URL that is told of events."""

    id: Id
    label: Folded[str]
    """The name of the webhook."""
    url: Uri
    """Where messages go."""
    actions: list[str]
    """The actions of the events that it is told of; all when empty."""
    entity_types: list[str]
    """The types of things that the events are about; all when empty."""
    status: Filtered[WebhookStatus]
    """`failing` while the receiver does not take the next message, which is tried again for 24
    hours; `disabled` after that, or by you."""
    reason: str | None
    """Why the last attempt failed, or it was disabled; null when all is well."""
    failing_since: Timestamp | None
    """When the first attempt at the next message failed (UTC); null when all is well."""
    revision: str
    """The revision of the API that its events are in."""
    secret: str
    """What messages are signed with: only in the answers of a create and of a rotation."""
    created: Created
    updated: Updated


class WebhookDeliveryRow(TypedDict):
    """One attempt to hand over a message."""

    id: Id
    created: Created
    status: Filtered[DeliveryStatus]
    """Whether the receiver took it."""
    attempt: int
    """1 for the first one at this message."""
    events: int
    """How many events the message has."""
    first_event: int
    """The id of the first."""
    last_event: int
    """The id of the last."""
    code: int | None
    """The HTTP status of the receiver's answer; null when there was none."""
    reason: str | None
    """Why it failed; null when it did not."""
    duration: float
    """Seconds."""
