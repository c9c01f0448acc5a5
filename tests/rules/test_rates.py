"""Rate limits."""

import pytest

from roost.web.rates import RateLimiter
from roost.web.registry import Rate


@pytest.mark.parametrize(("scale", "limit"), [(1.0, 20), (2.0, 40), (0.5, 10), (0.04, 1)])
def test_a_window_lets_so_many_through(scale: float, limit: int) -> None:
    limiter, rate = RateLimiter(scale), Rate(20, 3600)
    for left in reversed(range(limit)):
        window, in_time = limiter.take("me", "create", rate)
        assert (window.left, in_time) == (left, True)
    window, in_time = limiter.take("me", "create", rate)
    assert not in_time
    assert 3590 < window.wait <= 3601
    assert limiter.take("other", "create", rate)[1]
    assert limiter.take("me", "general", rate)[1]


def test_scale_0_switches_limits_off() -> None:
    limiter, rate = RateLimiter(0), Rate(1, 3600)
    assert all(limiter.take("me", "create", rate)[1] for _ in range(10))
