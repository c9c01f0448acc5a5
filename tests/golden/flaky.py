"""The list of tests that may fail for a reason that is not the change."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

FILE = Path(__file__).parents[1] / "flaky.txt"
MOST = 5
DAYS = 14


@dataclass(frozen=True, slots=True)
class Flaky:
    """One row: a test that was seen to fail by chance, and why it does."""

    seen: date
    test: str
    """Its id, such as `tests/api/test_volumes.py::test_a_race`, with or without parameters."""
    cause: str


def flaky_tests() -> list[Flaky]:
    lines = (line for line in FILE.read_text().splitlines() if line and line[0] != "#")
    rows = (line.split(maxsplit=2) for line in lines)
    return [Flaky(date.fromisoformat(seen), test, cause) for seen, test, cause in rows]
