"""What counts as a difference between an instance's row and its guest."""

from dataclasses import replace
from datetime import datetime

import pytest

from roost.core.instance_queries import InstanceFacts, InstanceStatus
from roost.resources.compute.disk_engine import DiskState
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.engine import InstanceState, Power
from roost.resources.compute.fsck import Drift, DriftKind, compare

ROW = InstanceFacts(
    id=100001,
    account_id=100000,
    label="web",
    status="running",
    region="us-lake",
    image="roost/debian12",
    type="g1-nano-1",
    disk=25600,
    memory=1024,
    vcpus=1,
    ipv4=["198.18.0.2"],
    ipv6=None,
    watchdog_enabled=True,
    target_region=None,
    target_host=None,
    engine="simulated",
    created=datetime(2029, 6, 14),
    host="main",
    config_id=100003,
    memory_limit=0,
    user_data=None,
    version=1,
)
ROOT = DiskFacts(
    id=100004,
    compute_id=100001,
    label="root",
    status="ready",
    size=25088,
    filesystem="ext4",
    image="roost/debian12",
    made=True,
    setup=None,
    password_revision=0,
    version=1,
)
SWAP = replace(ROOT, id=100005, size=512, filesystem="swap", image=None)
DISKS = (ROOT, SWAP)
UNMADE = tuple(replace(disk, made=False) for disk in DISKS)
HELD = tuple(DiskState(disk.id, disk.compute_id, disk.size) for disk in DISKS)
GUEST = InstanceState(id=100001, power="running", memory=1024, vcpus=1, disks=HELD)


def kind(drift: Drift | None) -> DriftKind | None:
    return None if drift is None else drift.kind


@pytest.mark.parametrize(
    ("status", "power", "expected"),
    [
        ("running", "running", None),
        ("offline", "offline", None),
        ("running", "offline", "power"),
        ("offline", "running", "power"),
        ("stopped", "offline", None),
        ("billing_suspension", "offline", None),
        ("running", None, "missing"),
        ("offline", None, "missing"),
        ("stopped", None, "missing"),
        *((status, "running", "stuck") for status in ("booting", "rebooting", "deleting")),
        *((status, "offline", "stuck") for status in ("shutting_down", "resizing", "migrating")),
        *((status, None, "stuck") for status in ("provisioning", "cloning", "restoring")),
        ("rebuilding", None, "stuck"),
    ],
)
def test_status_and_power(
    status: InstanceStatus, power: Power | None, expected: DriftKind | None
) -> None:
    guest = None if power is None else replace(GUEST, power=power)
    assert kind(compare(replace(ROW, status=status), DISKS, guest)) == expected


def test_guest_without_a_row() -> None:
    assert compare(None, (), GUEST) == Drift("orphan", "has a guest, but does not exist")
    assert compare(None, (), None) is None


@pytest.mark.parametrize(
    ("status", "power", "expected"),
    [
        ("offline", None, None),
        ("offline", "offline", "remains"),
        ("offline", "running", "power"),
        ("running", None, "missing"),
        ("running", "offline", "power"),
    ],
)
def test_creation_that_failed(
    status: InstanceStatus, power: Power | None, expected: DriftKind | None
) -> None:
    row = replace(ROW, status=status)
    guest = None if power is None else replace(GUEST, power=power)
    assert kind(compare(row, UNMADE, guest)) == expected


@pytest.mark.parametrize(
    ("guest", "text"),
    [
        (replace(GUEST, vcpus=2), "runs with 2 vCPUs instead of 1"),
        (replace(GUEST, memory=512), "runs with 512 MB of memory instead of 1024"),
        (replace(GUEST, memory=2048), "runs with 2048 MB of memory instead of 1024"),
        (
            replace(GUEST, vcpus=2, memory=1),
            "runs with 2 vCPUs instead of 1, 1 MB of memory instead of 1024",
        ),
    ],
)
def test_size(guest: InstanceState, text: str) -> None:
    assert compare(ROW, DISKS, guest) == Drift("size", text)
    off = replace(guest, power="offline")
    assert compare(replace(ROW, status="offline"), DISKS, off) is None


def test_a_config_limits_memory() -> None:
    row = replace(ROW, memory_limit=512)
    for memory, expected in ((512, None), (1024, None), (2048, "size")):
        assert kind(compare(row, DISKS, replace(GUEST, memory=memory))) == expected


@pytest.mark.parametrize(
    ("held", "drift"),
    [
        (HELD[:1], Drift("lost disk", "has lost disk 100005", 100005)),
        ((), Drift("lost disk", "has lost disk 100004", 100004)),
        (
            (replace(HELD[0], size=0), HELD[1]),
            Drift("lost disk", "has lost disk 100004", 100004),
        ),
        (
            (replace(HELD[0], size=9000), HELD[1]),
            Drift("disk size", "has disk 100004 with 9000 MB instead of 25088", 100004),
        ),
        (
            (*HELD, DiskState(100009, 100001, 1)),
            Drift("stray disk", "holds disk 100009, which does not exist", 100009),
        ),
    ],
)
@pytest.mark.parametrize("power", ["running", "offline"])
def test_disks(held: tuple[DiskState, ...], drift: Drift, power: Power) -> None:
    guest = replace(GUEST, power=power, disks=held)
    assert compare(replace(ROW, status=power), DISKS, guest) == drift


def test_disks_that_nobody_made_yet() -> None:
    half = (ROOT, replace(SWAP, made=False))
    off = replace(ROW, status="offline")
    guest = replace(GUEST, power="offline", disks=HELD[:1])
    assert compare(off, half, guest) is None
    assert kind(compare(off, half, replace(guest, disks=HELD))) == "stray disk"
    assert compare(off, (), replace(guest, disks=())) is None
