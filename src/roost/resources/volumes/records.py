"""The record of a volume (spec A, Volume)."""

from typing import Literal

from typing_extensions import TypedDict

VolumeStatus = Literal["creating", "active", "resizing"]


class VolumeRow(TypedDict):
    """Block storage that can be attached to a compute instance; size in GiB."""

    id: int
    label: str
    filesystem_path: str
    status: VolumeStatus
    size: int
    region: str
    compute_id: int | None
    compute_label: str | None
    created: str
    updated: str
    tags: list[str]
    hardware_type: Literal["hdd", "nvme"]
