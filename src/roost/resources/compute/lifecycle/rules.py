"""The rules of rebuilding, rescuing, resizing and cloning as pure functions."""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from roost.core.catalog.entries import PlanEntry
from roost.resources.compute.configs.copy_queries import SavedConfig
from roost.resources.compute.configs.queries import SlotFacts
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.disks.rules import can_have_password
from roost.resources.compute.engine import SLOTS

RESCUE_SLOTS = SLOTS[:-1]
"""The last one is the rescue system's own (reference: rescue)."""

DEFAULT_SWAP = 512
"""MB (spec B compute create swap)."""

MAX_CLONES = 5
"""Of one instance at the same time (reference: clone)."""

SAME_PLAN = "Compute is already running this service plan."
TOO_MUCH_DISK = (
    "Compute has allocated more disk than the new service plan allows. "
    "Delete or resize disks smaller."
)
NOT_ONE_DISK = "Compute must have exactly one disk that is not swap; reset the password on a disk."


def swap_beside(image: int, plan: int) -> int | None:
    """MB of swap beside an image on a plan's disk; None when the image alone is too large."""
    return min(DEFAULT_SWAP, plan - image) if image <= plan else None


def rescue_slots(disks: Iterable[DiskFacts]) -> tuple[SlotFacts, ...]:
    """All disks that are made, from sda on, when the caller names no devices."""
    made = [disk.id for disk in disks if disk.made]
    pairs = zip(RESCUE_SLOTS, made, strict=False)
    return tuple(SlotFacts(slot, disk_id, None) for slot, disk_id in pairs)


def grown(disks: Sequence[DiskFacts], plan: int) -> tuple[DiskFacts, int] | None:
    """The disk that grows with the plan, and its new size in MB; None when there is none.

    It is the only ext3 or ext4 disk, beside at most one swap (reference: resize).
    """
    exts = [disk for disk in disks if disk.filesystem in ("ext3", "ext4")]
    swaps = [disk for disk in disks if disk.filesystem == "swap"]
    if len(exts) != 1 or len(swaps) > 1 or len(exts) + len(swaps) < len(disks):
        return None
    size = plan - sum(swap.size for swap in swaps)
    return (exts[0], size) if exts[0].made and size > exts[0].size else None


def with_password(disks: Iterable[DiskFacts]) -> DiskFacts | None:
    """The disk whose root password is the instance's; None unless there is exactly one."""
    found = [disk for disk in disks if can_have_password(disk.filesystem)]
    return found[0] if len(found) == 1 else None


def cloned_disks(configs: Iterable[SavedConfig], more: Iterable[int]) -> list[int]:
    """The disks of these configs, and more, by id."""
    return sorted({disk for config in configs for disk in config.disks.values()} | set(more))


class Specs(BaseModel):
    """disk and memory in MB, transfer in GB a month."""

    model_config = ConfigDict(frozen=True)

    type: str
    disk: int
    memory: int
    vcpus: int
    gpus: int
    transfer: int

    @classmethod
    def of(cls, plan: PlanEntry) -> "Specs":
        return cls(
            type=plan.id,
            disk=plan.disk,
            memory=plan.memory,
            vcpus=plan.vcpus,
            gpus=plan.gpus,
            transfer=plan.transfer,
        )
