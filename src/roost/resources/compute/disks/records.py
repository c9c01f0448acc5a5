"""The record of a disk (reference: Disk)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.resources.compute.disks.engine import Filesystem

DiskStatus = Literal["ready", "not ready", "deleting"]


class DiskRow(TypedDict):
    """A disk of an instance; `size` in MB."""

    id: int
    label: str
    status: DiskStatus
    size: int
    filesystem: Filesystem
    created: str
    updated: str
