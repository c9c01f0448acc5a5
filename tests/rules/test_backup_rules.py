"""When backups are made, and which are kept (spec B, Compute instance; reference: backups)."""

from datetime import datetime, timedelta

import pytest

from roost.resources.compute.backups.rules import Kept, outdated, window_at

_NOW = datetime(2026, 11, 20, 3, 0)  # A Friday.


@pytest.mark.spec("B compute backups")
@pytest.mark.parametrize(
    ("hour", "minute", "window", "number"),
    [(0, 0, "W0", 0), (1, 59, "W0", 0), (2, 0, "W2", 1), (13, 30, "W12", 6), (23, 59, "W22", 11)],
)
def test_the_window_that_is_open(hour: int, minute: int, window: str, number: int) -> None:
    now = datetime(2026, 11, 20, hour, minute, 30)
    assert window_at(now) == (window, number, datetime(2026, 11, 20, number * 2))


def _daily(days: int) -> list[Kept]:
    """One backup a day; its id is how many days ago it was made."""
    return [Kept(ago, _NOW - timedelta(days=ago)) for ago in range(days)]


@pytest.mark.parametrize(
    ("day", "kept"),
    [
        ("Friday", {0, 7}),
        ("Thursday", {0, 1, 8}),
        ("Wednesday", {0, 2, 9}),
        ("Saturday", {0, 6, 13}),
        ("Scheduling", {0, 6, 13}),
        (None, {0, 6, 13}),
    ],
)
def test_a_day_a_week_and_the_week_before_are_kept(day: str | None, kept: set[int]) -> None:
    backups = _daily(30)
    gone = outdated(backups, day, compute_id=100_001, now=_NOW)
    assert {backup.id for backup in backups} - set(gone) == kept


def test_every_day_leaves_at_most_three_and_always_the_newest() -> None:
    held: list[Kept] = []
    for day in range(60):
        now = _NOW + timedelta(days=day)
        held.append(Kept(day, now))
        gone = outdated(held, "Monday", compute_id=1, now=now)
        held = [backup for backup in held if backup.id not in gone]
        assert day in {backup.id for backup in held}
        assert len(held) <= 3
    assert [backup.created.strftime("%a") for backup in held] == ["Mon", "Mon"]


def test_the_only_one_is_kept_however_old() -> None:
    assert outdated([Kept(1, _NOW - timedelta(days=400))], "Sunday", 1, _NOW) == []
