"""When somebody looks again what a canceled account still has."""

from datetime import timedelta

import pytest

from roost.resources.cancellation.rules import pause


@pytest.mark.parametrize(
    ("age", "seconds"),
    [(-5, 0.25), (0, 0.25), (1, 0.25), (4, 1), (100, 25), (240, 60), (100_000, 60)],
)
def test_pauses_grow_with_the_age(age: float, seconds: float) -> None:
    assert pause(timedelta(seconds=age)) == seconds
