"""The record of a disk (reference: Disk)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Id, Updated, example
from roost.resources.compute.disks.engine import Filesystem

DiskStatus = Literal["ready", "not ready", "deleting"]


@example(
    {
        "id": 100001,
        "label": "Debian 12 Disk",
        "status": "ready",
        "size": 50688,
        "filesystem": "ext4",
        "created": "2030-01-31T12:00:00",
        "updated": "2030-01-31T12:00:20",
    },
)
class DiskRow(TypedDict):
    """A disk of an instance; `size` in MB."""

    id: Id
    label: str
    """The name of the disk."""
    status: DiskStatus
    """`not ready` while a job works on it."""
    size: int
    """MB."""
    filesystem: Filesystem
    """What is on it; `raw` when Roost does not know."""
    created: Created
    updated: Updated
