"""What counts as a difference between a volume's row and its data."""

from dataclasses import replace

import pytest

from roost.resources.volumes.engine import VolumeState
from roost.resources.volumes.fsck import DriftKind, compare
from roost.resources.volumes.queries import VolumeFacts

ROW = VolumeFacts(
    id=100001,
    account_id=100000,
    label="data",
    region="us-lake",
    engine="simulated",
    host="main",
    size=20,
    status="active",
    compute_id=None,
    persist_across_boots=True,
    made=True,
    source_id=None,
    deleting=False,
    version=1,
)
DATA = VolumeState(100001, 20, None)


@pytest.mark.parametrize(
    ("row", "state", "owner", "kind"),
    [
        (None, None, None, None),
        (ROW, DATA, None, None),
        (replace(ROW, compute_id=7), replace(DATA, compute_id=7), 7, None),
        (replace(ROW, compute_id=7), replace(DATA, compute_id=7), None, None),
        (None, DATA, None, "orphan"),
        (ROW, None, None, "missing"),
        (replace(ROW, status="creating", made=False), None, None, "creating"),
        (replace(ROW, status="creating"), DATA, None, "creating"),
        (replace(ROW, status="resizing"), DATA, None, "resizing"),
        (replace(ROW, status="resizing"), None, None, "resizing"),
        (replace(ROW, deleting=True), DATA, None, "deleting"),
        (replace(ROW, deleting=True, status="creating"), None, None, "deleting"),
        (ROW, replace(DATA, size=10), None, "size"),
        (ROW, replace(DATA, size=30), None, "size"),
        (ROW, replace(DATA, compute_id=7), None, "elsewhere"),
        (replace(ROW, compute_id=8), replace(DATA, compute_id=7), 8, "elsewhere"),
        (replace(ROW, compute_id=8), DATA, 8, "unplugged"),
        (replace(ROW, compute_id=8), DATA, None, None),
    ],
)
def test_differences(
    row: VolumeFacts | None, state: VolumeState | None, owner: int | None, kind: DriftKind | None
) -> None:
    drift = compare(row, state, owner)
    assert (None if drift is None else drift.kind) == kind
