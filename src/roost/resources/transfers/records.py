"""Records of transfers (reference: Entity transfer, Service transfer)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Timestamp, Updated, Uuid

TransferStatus = Literal["accepted", "canceled", "completed", "failed", "pending", "stale"]


class TransferEntities(TypedDict):
    """What is transferred."""

    computes: list[int]
    """Ids of compute instances."""


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
