"""Records of images (spec A images; reference: Image)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Sought, Timestamp, Updated

ImageStatus = Literal["creating", "pending_upload", "available"]


class ImageRow(TypedDict):
    """What the first disk of an instance is copied from."""

    id: str
    """`private/` and a number for those of the account; public ones have another word before the
    slash."""
    label: Folded[str]
    """The name of the image."""
    description: str | None
    """What its owner says of it; null when nothing."""
    created: Created
    updated: Updated
    created_by: str
    """The user who made it, or who publishes it."""
    deprecated: Filtered[bool]
    """Whether it is no longer cared for; choose another."""
    is_public: bool
    """Whether every account can use it."""
    size: Filtered[int]
    """MB that its disk needs at least."""
    type: Filtered[Literal["manual", "automatic"]]
    """`automatic` for those kept of a deleted instance, which expire."""
    expiry: Timestamp | None
    """When it is going to be deleted (UTC); null for never."""
    eol: Timestamp | None
    """When its distribution ends to be supported (UTC); null when unknown or private."""
    vendor: Folded[str | None]
    """The distribution; null for private images."""
    status: Sought[ImageStatus]
    """`pending_upload` waits for data; only `available` ones can be used."""
    capabilities: list[str]
    """`cloud-init` when it takes user data."""


class ImageUpload(TypedDict):
    """An image that waits for its data."""

    upload_to: str
    """The URL to which they go by `PUT`, as `application/octet-stream`; it is told only here, and
    needs no token."""
    image: ImageRow
    """Its record, `pending_upload`."""
