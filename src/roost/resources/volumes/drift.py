"""How a volume's row and its data differ: pure comparison."""

from dataclasses import dataclass
from typing import Literal

from roost.resources.volumes.engine import VolumeState
from roost.resources.volumes.queries import VolumeFacts

DriftKind = Literal[
    "orphan", "creating", "deleting", "resizing", "missing", "size", "elsewhere", "unplugged"
]


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the volume."""

    kind: DriftKind
    text: str


def compare(row: VolumeFacts | None, state: VolumeState | None, owner: int | None) -> Drift | None:
    """The difference to mend first; no job works on the volume.

    `owner` is the instance whose guest runs and should have the volume.
    """
    if row is None:
        return None if state is None else Drift("orphan", "has data, but does not exist")
    if row.deleting:
        return Drift("deleting", "is being deleted, but no job works on it")
    if row.status == "creating":
        return Drift("creating", "is creating, but no job works on it")
    if row.status == "resizing":
        return Drift("resizing", "is resizing, but no job works on it")
    if state is None:
        return Drift("missing", "has lost its data")
    if state.size != row.size:
        return Drift("size", f"is {row.size} GiB, but its data are {state.size} GiB")
    return _compare_guests(row, state, owner)


def _compare_guests(row: VolumeFacts, state: VolumeState, owner: int | None) -> Drift | None:
    """A guest keeps a volume of its instance also when its config leaves that out by now."""
    if state.compute_id is None:
        text = f"is not plugged into instance {owner}, which runs"
        return None if owner is None else Drift("unplugged", text)
    if state.compute_id == row.compute_id:
        return None
    return Drift("elsewhere", f"is plugged into instance {state.compute_id} without being its")
