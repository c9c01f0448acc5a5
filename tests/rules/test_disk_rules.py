"""The rules of disks, configs and the interfaces that they have."""

import pytest

from roost.errors import Problem
from roost.resources.compute import rules
from roost.resources.compute.configs import rules as configs
from roost.resources.compute.configs.bodies import UpdateInterface
from roost.resources.compute.configs.interface_queries import InterfaceFacts
from roost.resources.compute.configs.queries import BootConfig, ConfigName, SlotFacts
from roost.resources.compute.configs.service import (
    ONE_PRIMARY,
    _default,
    adding_problem,
    updating_problem,
)
from roost.resources.compute.disks import rules as disks
from roost.resources.compute.engine import DiskDevice, VolumeDevice
from roost.resources.compute.interface_bodies import Interface
from roost.resources.compute.neighbours import AttachedVolume
from roost.resources.compute.steps import devices_of


@pytest.mark.parametrize(
    ("plan", "allocated", "wanted", "free"),
    [
        (25600, 0, 25600, None),
        (25600, 25088, 512, None),
        (25600, 25088, 513, 512),
        (25600, 25600, 1, 0),
        (25600, 30000, 1, 0),
    ],
)
def test_room_in_the_plan(plan: int, allocated: int, wanted: int, free: int | None) -> None:
    reason = disks.space_reason(plan, allocated, wanted)
    assert reason == (
        None
        if free is None
        else f"Insufficient space for this disk: {free} MB of {plan} MB are free"
    )


def test_labels_fit() -> None:
    assert disks.image_label("Debian 12") == "Debian 12 Disk"
    assert configs.profile_label("Debian 12 Disk") == "My Debian 12 Disk Profile"
    assert disks.copy_label("Debian 12 Disk") == "Copy of Debian 12 Disk"
    long = "x" * 128
    image = disks.image_label(long)
    for label in (image, configs.profile_label(image), disks.copy_label(image)):
        assert len(label) == 48
    assert image.endswith(" Disk")
    assert configs.profile_label(image).endswith(" Profile")


@pytest.mark.parametrize(
    ("memory", "limit", "expected"),
    [(1024, 0, 1024), (1024, 512, 512), (1024, 1024, 1024), (1024, 4096, 1024)],
)
def test_memory_limit(memory: int, limit: int, expected: int) -> None:
    assert rules.limited(memory, limit) == expected


ONE, TWO = ConfigName(100001, "one"), ConfigName(100002, "two")


@pytest.mark.parametrize(
    ("found", "last", "chosen"),
    [
        ([], None, None),
        ([], 100001, None),
        ([ONE], None, ONE),
        ([ONE], 100002, ONE),
        ([ONE, TWO], None, None),
        ([ONE, TWO], 100002, TWO),
        ([ONE, TWO], 100003, None),
    ],
)
def test_default_config(
    found: list[ConfigName], last: int | None, chosen: ConfigName | None
) -> None:
    assert _default(found, last) == chosen


def test_devices() -> None:
    """Slots first, then volumes of no config; what is of other configs only stays away."""
    slots = (
        SlotFacts("sda", 100004, None),
        SlotFacts("sdb", None, 100010),
        SlotFacts("sdc", None, 100011),
    )
    config = BootConfig(100003, 0, "/dev/sda", (), slots)
    attached = [
        AttachedVolume(100010, "data", True),
        AttachedVolume(100012, "elsewhere", True),
        AttachedVolume(100013, "once", False),
    ]
    assert devices_of(config, attached, {100010, 100011, 100012}) == (
        DiskDevice("sda", 100004),
        VolumeDevice("sdb", 100010, "data"),
        VolumeDevice(None, 100013, "once"),
    )


PUBLIC = InterfaceFacts(1, "public", None, None, True)
VLAN = InterfaceFacts(2, "vlan", "back-end", None, False)


@pytest.mark.parametrize(
    ("held", "new", "problem"),
    [
        ([], Interface(purpose="public", primary=True), None),
        ([VLAN], Interface(purpose="vlan", label="other"), None),
        ([PUBLIC, VLAN], Interface(purpose="vlan", label="other"), None),
        (
            [VLAN, VLAN, VLAN],
            Interface(purpose="public"),
            Problem("A config has at most 3 interfaces"),
        ),
        (
            [PUBLIC],
            Interface(purpose="public"),
            Problem("At most one interface may be public", "purpose"),
        ),
        (
            [VLAN],
            Interface(purpose="vlan", label="back-end"),
            Problem("The labels of vlan interfaces must differ", "label"),
        ),
    ],
)
def test_adding(held: list[InterfaceFacts], new: Interface, problem: Problem | None) -> None:
    assert adding_problem(held, new) == problem


@pytest.mark.parametrize(
    ("interface", "body", "problem"),
    [
        (PUBLIC, UpdateInterface(primary=True), None),
        (PUBLIC, UpdateInterface(primary=False, ip_ranges=[]), None),
        (VLAN, UpdateInterface(), Problem("A vlan interface cannot be updated")),
        (
            InterfaceFacts(3, "public", None, None, False),
            UpdateInterface(primary=True),
            Problem(ONE_PRIMARY, "primary"),
        ),
    ],
)
def test_updating(
    interface: InterfaceFacts, body: UpdateInterface, problem: Problem | None
) -> None:
    assert updating_problem([PUBLIC, VLAN], interface, body) == problem
