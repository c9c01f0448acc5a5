"""What counts as a difference between an instance's row and its guest."""

from dataclasses import replace

import pytest

from roost.resources.compute.drift import Drift, DriftKind, compare
from roost.resources.compute.engine import InstanceState, Power
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.records import InstanceStatus

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
    swap_size=512,
    ipv4=["198.18.0.2"],
    ipv6=None,
    watchdog_enabled=True,
    provisioned=True,
    engine="simulated",
    setup=b"",
)
GUEST = InstanceState(id=100001, power="running", memory=1024, vcpus=1, disk=25088)


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
    assert kind(compare(replace(ROW, status=status), guest)) == expected


def test_guest_without_a_row() -> None:
    assert compare(None, GUEST) == Drift("orphan", "has a guest, but does not exist")
    assert compare(None, None) is None


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
    row = replace(ROW, status=status, provisioned=False)
    guest = None if power is None else replace(GUEST, power=power)
    assert kind(compare(row, guest)) == expected


@pytest.mark.parametrize(
    ("guest", "text"),
    [
        (replace(GUEST, vcpus=2), "runs with 2 vCPUs instead of 1"),
        (replace(GUEST, memory=512), "runs with 512 MB of memory instead of 1024"),
        (replace(GUEST, disk=25600), "runs with 25600 MB of disk instead of 25088"),
        (
            replace(GUEST, vcpus=2, disk=1),
            "runs with 2 vCPUs instead of 1, 1 MB of disk instead of 25088",
        ),
    ],
)
def test_size(guest: InstanceState, text: str) -> None:
    assert compare(ROW, guest) == Drift("size", text)
    assert compare(replace(ROW, status="offline"), replace(guest, power="offline")) is None


def test_disks_that_are_gone() -> None:
    """The watchdog tries to boot such a guest, which then is seen to be gone."""
    bare = replace(GUEST, power="offline", disk=0)
    gone = Drift("missing", "is offline, but its disks are gone")
    assert compare(replace(ROW, status="offline"), bare) == gone
    assert kind(compare(ROW, bare)) == "power"
