"""Labels and limits of volumes (spec A, Volume and Limits)."""

import re

import pytest
from pydantic_core import PydanticCustomError

from roost.resources.volumes.rules import LABEL_PATTERN, check_label, check_room, most_volumes

FIRST = "Must begin with a letter"
ONLY = "Must only use ASCII letters, numbers, underscores, and dashes"
TWICE = "Must not have two dashes or two underscores in a row"

pytestmark = pytest.mark.spec("A limits volume label", "A limits volumes per instance")


@pytest.mark.parametrize(
    "label", ["a", "Z", "a1", "data-1_x", "a-_b", "a-", "a_", "x" * 32, "a-b-c_d_e"]
)
def test_labels(label: str) -> None:
    assert check_label(label) == label
    assert re.fullmatch(LABEL_PATTERN, label)


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("", FIRST),
        ("1a", FIRST),
        ("-a", FIRST),
        ("_a", FIRST),
        (" a", FIRST),
        ("\u00e9a", FIRST),
        ("a b", ONLY),
        ("a.b", ONLY),
        ("a/b", ONLY),
        ("a\n", ONLY),
        ("caf\u00e9", ONLY),
        ("a\u0661", ONLY),
        ("a--b", TWICE),
        ("a__b", TWICE),
        ("a--", TWICE),
    ],
)
def test_labels_that_are_none(label: str, reason: str) -> None:
    with pytest.raises(PydanticCustomError) as refusal:
        check_label(label)
    assert refusal.value.message() == reason
    assert not re.fullmatch(LABEL_PATTERN, label)


@pytest.mark.parametrize(
    ("memory", "most"),
    [
        (128, 1),
        (512, 1),
        (1024, 1),
        (2048, 2),
        (8192, 8),
        (12288, 8),
        (16383, 8),
        (16384, 16),
        (32768, 32),
        (65536, 64),
        (131072, 64),
    ],
)
def test_one_volume_for_each_gigabyte(memory: int, most: int) -> None:
    assert most_volumes(memory) == most
    assert check_room(memory, most - 1, 0, persists=False) is None
    noun = "volume" if most == 1 else "volumes"
    reason = f"Compute cannot have more than {most} {noun} with its memory."
    assert check_room(memory, most, 0, persists=False) == reason
    assert check_room(memory, most, 0, persists=True) == reason


@pytest.mark.spec("A limits volumes persistent")
def test_only_eight_persist_across_boots() -> None:
    assert check_room(16384, 12, 7, persists=True) is None
    assert check_room(16384, 8, 8, persists=False) is None
    reason = "Compute cannot have more than 8 volumes that persist across boots."
    assert check_room(16384, 8, 8, persists=True) == reason
