"""The record of a volume (spec A volumes)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Sought, TagLabels, Updated

VolumeStatus = Literal["creating", "active", "resizing"]


class VolumeRow(TypedDict):
    """Block storage that can be attached to a compute instance; size in GiB."""

    id: Id
    label: Folded[str]
    """The name that you gave it; unique in the account."""
    filesystem_path: str
    """Where an instance that it is attached to finds it as a block device."""
    status: VolumeStatus
    """`creating` until it can be used, `resizing` while it grows, else `active`."""
    size: int
    """GiB. It can only grow."""
    region: Filtered[str]
    """The id of the region that holds it; only instances of that region can have it."""
    compute_id: Sought[int | None]
    """The instance that it is attached to; null when it is attached to none."""
    compute_label: str | None
    """The label of that instance; null when it is attached to none."""
    created: Created
    updated: Updated
    tags: Filtered[TagLabels]
    hardware_type: Literal["hdd", "nvme"]
    """The kind of storage behind it."""
