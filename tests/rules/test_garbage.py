"""Full collections that took long leave out what they have seen."""

import gc
from collections.abc import Iterator

import pytest

from roost.app import garbage
from roost.app.garbage import EVERY_SECONDS, Collections


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """What it says is its only number."""
    now = [100.0]
    monkeypatch.setattr(garbage, "monotonic", lambda: now[0])
    gc.unfreeze()
    yield now
    gc.unfreeze()


def collected(collections: Collections, clock: list[float], seconds: float, full: int = 2) -> bool:
    """Whether what there is is left out after a collection that took so long."""
    collections("start", {"generation": full})
    clock[0] += seconds
    collections("stop", {"generation": full})
    return gc.get_freeze_count() > 0


def test_after_a_long_one(clock: list[float]) -> None:
    collections = Collections()
    assert not collected(collections, clock, 0.001)
    assert not collected(collections, clock, 1.0, full=1)
    assert collected(collections, clock, 1.0)


def test_all_is_looked_at_again_after_a_while(clock: list[float]) -> None:
    collections = Collections()
    assert collected(collections, clock, 1.0)
    clock[0] += EVERY_SECONDS
    assert not collected(collections, clock, 0.001)
    assert collected(collections, clock, 1.0)
