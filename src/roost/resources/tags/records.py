"""Records of tags (reference: Tag and tagged object)."""

from typing_extensions import TypedDict

from roost.core.formats import example


@example(
    {"label": "production"},
)
class TagRow(TypedDict):
    """A label that users put on their entities."""

    label: str
    """The tag itself."""


@example(
    {
        "type": "volume",
        "data": {
            "id": 100001,
            "label": "data",
            "filesystem_path": "/dev/disk/by-id/scsi-0Roost_Volume_data",
            "status": "active",
            "size": 20,
            "region": "us-lake",
            "compute_id": 100001,
            "compute_label": "web-1",
            "created": "2030-01-31T12:00:00",
            "updated": "2030-01-31T12:00:05",
            "tags": ["production"],
            "hardware_type": "nvme",
        },
    },
)
class TaggedRow(TypedDict):
    """Something that has a tag."""

    type: str
    """What kind of thing it is, such as `volume`."""
    data: dict[str, object]
    """The record of that type, the same as its own endpoint shows."""
