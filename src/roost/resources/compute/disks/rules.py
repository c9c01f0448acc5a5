"""The rules of disks as pure functions (reference: Disk, Compute instances)."""

from roost.resources.compute.disk_engine import Filesystem

MAX_LABEL = 48

MAX_SIZE = 2**31 - 1
"""MB; the plan's disk is the limit that counts."""


def image_label(label: str) -> str:
    """The label of a disk that is made from the image of this label."""
    return f"{label[: MAX_LABEL - len(' Disk')]} Disk"


def copy_label(label: str) -> str:
    return f"Copy of {label}"[:MAX_LABEL]


def space_reason(plan: int, allocated: int, wanted: int) -> str | None:
    """Why `wanted` MB more do not fit beside what is allocated; None when they do."""
    free = max(plan - allocated, 0)
    if wanted <= free:
        return None
    return f"Insufficient space for this disk: {free} MB of {plan} MB are free"


def can_have_password(filesystem: Filesystem) -> bool:
    """Whether a guest could boot from it, to have a root password."""
    return filesystem not in ("swap", "initrd")
