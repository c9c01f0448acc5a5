"""How much was used between two readings."""

from dataclasses import astuple, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from roost.resources.compute.engine import Counters
from roost.resources.compute.network_engine import Traffic
from roost.resources.usage.rules import (
    HOUR,
    STEP,
    Amounts,
    Reading,
    billable,
    bucket,
    reading,
    seen,
    used,
)

NOON = datetime(2030, 1, 31, 12)
FIRST = Reading(NOON, "run", "epoch", Amounts(10.0, 1000, 100, 1, 2, 3, 4, 5, 6))
LATER = NOON + timedelta(seconds=STEP)
SECOND = Reading(LATER, "run", "epoch", Amounts(15.5, 1500, 100, 11, 22, 33, 44, 55, 66))


def test_between_two_readings() -> None:
    assert used(FIRST, SECOND) == Amounts(5.5, 500, 0, 10, 20, 30, 40, 50, 60)


def test_of_a_first_reading_all_counts() -> None:
    assert used(None, FIRST) == FIRST.totals
    assert seen(None, FIRST) is None


def test_a_guest_that_was_started_again() -> None:
    """Its traffic is counted on; what it did in the run before after the reading is lost."""
    again = replace(SECOND, run="another")
    assert used(FIRST, again) == Amounts(15.5, 1500, 100, 10, 20, 30, 40, 50, 60)


def test_counters_of_traffic_that_began_anew() -> None:
    assert used(FIRST, replace(SECOND, epoch="epoch.17")) == used(FIRST, SECOND)
    anew = replace(SECOND, epoch="epochs")
    assert used(FIRST, anew) == Amounts(5.5, 500, 0, 11, 22, 33, 44, 55, 66)


def test_counters_that_went_back_began_anew() -> None:
    less = replace(SECOND, totals=replace(FIRST.totals, cpu=2.0, ipv4_out=1, ipv6_out=1))
    amounts = used(FIRST, less)
    assert amounts.cpu == 2.0
    assert amounts.public_out == 2


def test_swapping_is_apart() -> None:
    counters = Counters("run", 1.0, {1: 100, 2: 7}, Traffic("epoch", ipv4_out=5))
    found = reading(counters, frozenset({2}), NOON)
    assert (found.totals.io, found.totals.swap, found.totals.ipv4_out) == (100, 7, 5)


def test_a_long_gap_is_shown_as_a_mean() -> None:
    hours = replace(SECOND, read_at=NOON + timedelta(seconds=10 * STEP))
    found = seen(FIRST, hours)
    assert found is not None
    assert found.seconds == STEP
    assert found.amounts.io == 50


def test_a_clock_that_goes_back_shows_nothing() -> None:
    assert seen(FIRST, replace(SECOND, read_at=NOON - timedelta(1))) is None


@pytest.mark.parametrize(
    ("now", "step", "at"),
    [
        ("2030-01-31T12:05:00", STEP, "2030-01-31T12:00:00"),
        ("2030-01-31T12:05:01", STEP, "2030-01-31T12:00:00"),
        ("2030-01-31T12:07:40", STEP, "2030-01-31T12:05:00"),
        ("2030-01-31T13:00:01", HOUR, "2030-01-31T12:00:00"),
        ("2030-02-01T00:00:02", HOUR, "2030-01-31T23:00:00"),
        ("2030-01-01T00:00:00", STEP, "2029-12-31T23:55:00"),
    ],
)
def test_where_an_amount_belongs(now: str, step: int, at: str) -> None:
    assert bucket(datetime.fromisoformat(now), step) == datetime.fromisoformat(at)


@pytest.mark.parametrize(
    ("used_gb", "quota", "over"), [(0, 0, 0), (5, 10, 0), (10, 10, 0), (11, 10, 1)]
)
def test_what_is_billable(used_gb: int, quota: int, over: int) -> None:
    assert billable(used_gb, quota) == over


_TOTALS = some.builds(Amounts, some.floats(0, 1e9), *[some.integers(0, 2**62)] * 8)


@given(_TOTALS, _TOTALS, some.sampled_from(["run", "other"]), some.sampled_from(["epoch", "other"]))
def test_nothing_is_ever_negative(first: Amounts, second: Amounts, run: str, epoch: str) -> None:
    before = Reading(NOON, "run", "epoch", first)
    amounts = used(before, Reading(LATER, run, epoch, second))
    assert all(amount >= 0 for amount in astuple(amounts))
