"""Rate limits."""

import pytest
from prometheus_client import CollectorRegistry

from roost.web import rates
from roost.web.rates import RateLimiter
from roost.web.registry import Rate


@pytest.mark.parametrize(("scale", "limit"), [(1.0, 20), (2.0, 40), (0.5, 10), (0.04, 1)])
def test_a_window_lets_so_many_through(scale: float, limit: int) -> None:
    limiter, rate = RateLimiter(scale, CollectorRegistry()), Rate(20, 3600)
    for left in reversed(range(limit)):
        window, in_time = limiter.take("me", "create", rate)
        assert (window.left, in_time) == (left, True)
    window, in_time = limiter.take("me", "create", rate)
    assert not in_time
    assert 3590 < window.wait <= 3601
    assert limiter.take("other", "create", rate)[1]
    assert limiter.take("me", "general", rate)[1]


def test_scale_0_switches_limits_off() -> None:
    limiter, rate = RateLimiter(0, CollectorRegistry()), Rate(1, 3600)
    assert all(limiter.take("me", "create", rate)[1] for _ in range(10))


def test_refusals_are_counted_by_limit() -> None:
    registry = CollectorRegistry()
    limiter, rate = RateLimiter(1, registry), Rate(1, 3600)
    for caller in ("me", "me", "me", "other", "other"):
        limiter.take(caller, "create", rate)
    limiter.take("me", "general", rate)

    def refused(limit: str) -> float | None:
        return registry.get_sample_value("roost_rate_limit_refusals_total", {"limit": limit})

    assert (refused("create"), refused("general")) == (3, None)


def test_a_full_table_forgets_the_oldest_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MAX_WINDOWS", 10)
    limiter, rate = RateLimiter(1, CollectorRegistry()), Rate(1, 3600)
    assert limiter.take(7, "general", rate)[1]
    for number in range(9):
        assert limiter.take(f"2001:db8:{number}::", "general", rate)[1]
    assert not limiter.take(7, "general", rate)[1]
    assert limiter.take("2001:db8:99::", "general", rate)[1]
    assert not limiter.take("2001:db8:1::", "general", rate)[1], "not the oldest"
    assert limiter.take(7, "general", rate)[1], "the oldest"


def test_windows_that_have_ended_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MAX_WINDOWS", 3)
    limiter, short, long = RateLimiter(1, CollectorRegistry()), Rate(1, 0), Rate(1, 3600)
    limiter.take("gone", "strangers", short)
    limiter.take("gone too", "strangers", short)
    for caller in ("a", "b", "c"):
        limiter.take(caller, "general", long)
    assert not any(limiter.take(caller, "general", long)[1] for caller in ("a", "b", "c"))
