"""Golden lists of what is still missing, one name a line; a list may only get shorter.

An entry that is not listed fails the run, and so does a listed one that is no gap any more. Empty
is the goal.
"""

from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent


def read_list(name: str) -> list[str]:
    """The lines of a list without comments."""
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def check_gaps(name: str, found: Iterable[str]) -> None:
    """Compare what is missing now with the list of that name."""
    listed, gaps = set(read_list(name)), set(found)
    new, closed = sorted(gaps - listed), sorted(listed - gaps)
    assert not new, f"new gaps, to be closed rather than added to tests/golden/{name}.txt: {new}"
    assert not closed, f"closed gaps, to be removed from tests/golden/{name}.txt: {closed}"
