"""How an instance's row and its guest differ: pure comparison."""

from dataclasses import dataclass
from typing import Literal

from roost.resources.compute.engine import InstanceState
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus

DriftKind = Literal["orphan", "stuck", "missing", "remains", "power", "size"]

_SETTLED: tuple[InstanceStatus, ...] = ("running", "offline", "stopped", "billing_suspension")
_POWERED: tuple[InstanceStatus, ...] = ("running", "offline")


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the instance."""

    kind: DriftKind
    text: str


def compare(row: InstanceFacts | None, guest: InstanceState | None) -> Drift | None:
    """The difference to mend first. Both are of one region, and no job works on them."""
    if row is None:
        return None if guest is None else Drift("orphan", "has a guest, but does not exist")
    if row.status not in _SETTLED:
        return Drift("stuck", f"is {row.status}, but no job works on it")
    if guest is None:
        made = row.provisioned or row.status == "running"
        return Drift("missing", f"is {row.status}, but its guest is gone") if made else None
    if not row.provisioned and (row.status, guest.power) == ("offline", "offline"):
        return Drift("remains", "has a guest that was only half made")
    if row.status in _POWERED and row.status != guest.power:
        return Drift("power", f"is {row.status}, but its guest is {guest.power}")
    if guest.power == "running":
        return _compare_size(row, guest)
    return None if guest.disk else Drift("missing", f"is {row.status}, but its disks are gone")


def _compare_size(row: InstanceFacts, guest: InstanceState) -> Drift | None:
    """Of a guest that runs; one that is offline gets its size when it starts."""
    sizes = (
        ("vCPUs", guest.vcpus, row.vcpus),
        ("MB of memory", guest.memory, row.memory),
        ("MB of disk", guest.disk, root_disk(row)),
    )
    wrong = [f"{has} {unit} instead of {wanted}" for unit, has, wanted in sizes if has != wanted]
    return Drift("size", f"runs with {', '.join(wrong)}") if wrong else None


def root_disk(row: InstanceFacts) -> int:
    """MB"""
    return row.disk - row.swap_size
