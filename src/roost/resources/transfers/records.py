"""Records of transfers (reference: Entity transfer, Service transfer)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Timestamp, Updated, Uuid, example

TransferStatus = Literal["accepted", "canceled", "completed", "failed", "pending", "stale"]


class TransferEntities(TypedDict):
    """What is transferred."""

    computes: list[int]
    """Ids of compute instances."""


@example(
    {
        "token": "123E4567-E89B-12D3-A456-426614174000",
        "status": "pending",
        "created": "2030-01-01T12:00:00",
        "updated": "2030-01-01T12:00:00",
        "is_sender": True,
        "expiry": "2030-01-02T12:00:00",
        "entities": {"computes": [100001]},
    },
)
class TransferRow(TypedDict):
    """An offer of compute instances to another account."""

    token: Uuid
    """What names it, and allows another account to accept it."""
    status: Filtered[TransferStatus]
    """`pending`, until it is accepted (then `completed`), `canceled`, or after a day `stale`."""
    created: Created
    updated: Updated
    is_sender: bool
    """Whether this account offers."""
    expiry: Timestamp
    """Until when it can be accepted (UTC)."""
    entities: TransferEntities
    """What it is about."""
