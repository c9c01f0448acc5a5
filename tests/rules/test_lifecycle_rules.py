"""What resizing, rescuing and resetting a password do, by the disks that an instance has."""

import pytest

from roost.resources.compute.configs.copy_queries import SavedConfig
from roost.resources.compute.disk_engine import Filesystem
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.lifecycle import rules

PLAN = 1000


def disk(number: int, filesystem: Filesystem, size: int = 100, made: bool = True) -> DiskFacts:
    return DiskFacts(number, 1, "d", "ready", size, filesystem, None, made, None, 0, 1)


@pytest.mark.parametrize(
    ("disks", "grown"),
    [
        ([], None),
        ([disk(1, "ext4")], 1000),
        ([disk(1, "ext3"), disk(2, "swap")], 900),
        ([disk(1, "swap"), disk(2, "ext4")], 900),
        ([disk(1, "ext4", 1000)], None),
        ([disk(1, "ext4", made=False)], None),
        ([disk(1, "ext4"), disk(2, "ext4")], None),
        ([disk(1, "ext4"), disk(2, "swap"), disk(3, "swap")], None),
        ([disk(1, "ext4"), disk(2, "raw")], None),
        ([disk(1, "raw")], None),
    ],
)
def test_which_disk_grows(disks: list[DiskFacts], grown: int | None) -> None:
    found = rules.grown(disks, PLAN)
    assert (None if found is None else found[1]) == grown
    assert found is None or found[0].filesystem in ("ext3", "ext4")


@pytest.mark.parametrize(
    ("disks", "number"),
    [
        ([], None),
        ([disk(1, "swap"), disk(2, "initrd")], None),
        ([disk(1, "swap"), disk(2, "ext4")], 2),
        ([disk(1, "raw")], 1),
        ([disk(1, "ext4"), disk(2, "ext3")], None),
    ],
)
def test_whose_password(disks: list[DiskFacts], number: int | None) -> None:
    found = rules.with_password(disks)
    assert (None if found is None else found.id) == number


def test_what_the_rescue_system_has() -> None:
    disks = [disk(number, "ext4", made=number != 2) for number in range(1, 10)]
    slots = [(slot.slot, slot.disk_id) for slot in rules.rescue_slots(disks)]
    wanted = zip(
        ("sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg"), (1, 3, 4, 5, 6, 7, 8), strict=True
    )
    assert slots == list(wanted)


@pytest.mark.parametrize(
    ("image", "plan", "swap"),
    [(500, 5000, 512), (500, 1012, 512), (500, 1011, 511), (500, 500, 0), (501, 500, None)],
)
def test_swap_beside_an_image(image: int, plan: int, swap: int | None) -> None:
    assert rules.swap_beside(image, plan) == swap


def test_which_disks_are_cloned() -> None:
    config = SavedConfig.model_construct(disks={"sda": 7, "sdb": 3})
    assert rules.cloned_disks([config], [5, 7]) == [3, 5, 7]
    assert rules.cloned_disks([], []) == []
