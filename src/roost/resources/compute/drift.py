"""How an instance's rows and its guest differ: pure comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from roost.resources.compute.disks.engine import DiskState
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.engine import InstanceState
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus

DriftKind = Literal[
    "orphan", "stuck", "missing", "remains", "power", "size", "lost disk", "stray disk", "disk size"
]

_SETTLED: tuple[InstanceStatus, ...] = ("running", "offline", "stopped", "billing_suspension")
_POWERED: tuple[InstanceStatus, ...] = ("running", "offline")


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the instance."""

    kind: DriftKind
    text: str
    disk_id: int | None = None
    """Of a difference of one disk."""


def compare(
    row: InstanceFacts | None, disks: Sequence[DiskFacts], guest: InstanceState | None
) -> Drift | None:
    """The difference to mend first. All are of one region, and no job works on them."""
    if row is None:
        return None if guest is None else Drift("orphan", "has a guest, but does not exist")
    if row.status not in _SETTLED:
        return Drift("stuck", f"is {row.status}, but no job works on it")
    made = any(disk.made for disk in disks)
    if guest is None:
        gone = made or row.status == "running"
        return Drift("missing", f"is {row.status}, but its guest is gone") if gone else None
    if not made and guest.disks and (row.status, guest.power) == ("offline", "offline"):
        return Drift("remains", "has a guest that was only half made")
    if power_differs(row.status, guest):
        return Drift("power", f"is {row.status}, but its guest is {guest.power}")
    return _compare_size(row, guest) or _compare_disks(disks, guest.disks)


def power_differs(status: InstanceStatus, guest: InstanceState | None) -> bool:
    """Whether a guest is on or off while its row says otherwise."""
    return status in _POWERED and guest is not None and status != guest.power


def awaits_boot(drift: Drift, guest: InstanceState | None) -> bool:
    """Whether a guest is off only until Roost is served again on its host, which then boots it."""
    return drift.kind == "power" and guest is not None and guest.interrupted


def _compare_size(row: InstanceFacts, guest: InstanceState) -> Drift | None:
    """Of a guest that runs; one that is offline gets its size when it starts."""
    if guest.power == "offline":
        return None
    # With a limit in its config a guest has less memory than its plan.
    memory = min(row.memory, guest.memory) if row.memory_limit else row.memory
    sizes = (("vCPUs", guest.vcpus, row.vcpus), ("MB of memory", guest.memory, memory))
    wrong = [f"{has} {unit} instead of {wanted}" for unit, has, wanted in sizes if has != wanted]
    return Drift("size", f"runs with {', '.join(wrong)}") if wrong else None


def _compare_disks(rows: Sequence[DiskFacts], held: Sequence[DiskState]) -> Drift | None:
    wanted = {disk.id: disk for disk in rows if disk.made}
    found = {disk.id: disk for disk in held}
    for disk in wanted.values():
        state = found.get(disk.id)
        if state is None:
            return Drift("lost disk", f"has lost disk {disk.id}", disk.id)
        if state.size != disk.size:
            sizes = f"{state.size} MB instead of {disk.size}"
            return Drift("disk size", f"has disk {disk.id} with {sizes}", disk.id)
    for disk_id in found.keys() - wanted.keys():
        text = f"holds disk {disk_id}, which does not exist"
        return Drift("stray disk", text, disk_id)
    return None
