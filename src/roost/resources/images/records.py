"""Records of images (spec A images; reference: Image)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Sought, Timestamp, Updated, example

ImageStatus = Literal["creating", "pending_upload", "available"]


@example(
    {
        "id": "roost/debian12",
        "label": "Debian 12",
        "description": "",
        "created": "2029-06-14T16:00:00",
        "updated": "2029-06-14T16:00:00",
        "created_by": "roost",
        "deprecated": False,
        "is_public": True,
        "size": 2200,
        "type": "manual",
        "expiry": None,
        "eol": "2032-06-10T16:00:00",
        "vendor": "Debian",
        "status": "available",
        "capabilities": ["cloud-init"],
    },
)
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


@example(
    {
        "upload_to": "https://cloud.example.com/image-uploads/Zk1xWQ7l0eRkq3cV",
        "image": {
            "id": "private/100001",
            "label": "built here",
            "description": "",
            "created": "2029-06-14T16:00:00",
            "updated": "2029-06-14T16:00:00",
            "created_by": "somebody",
            "deprecated": False,
            "is_public": False,
            "size": 0,
            "type": "manual",
            "expiry": None,
            "eol": None,
            "vendor": None,
            "status": "pending_upload",
            "capabilities": [],
        },
    },
)
class ImageUpload(TypedDict):
    """An image that waits for its data."""

    upload_to: str
    """The URL to which they go by `PUT`, as `application/octet-stream`; it is told only here, and
    needs no token."""
    image: ImageRow
    """Its record, `pending_upload`."""
