"""Rate limits: fixed windows, counted in this process (reference: errors, Rate limits)."""

import time
from collections import OrderedDict
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter

from roost.web.registry import Rate

MAX_WINDOWS = 100_000

Caller = int | str
"""A user by id, or the origin of a stranger."""


@dataclass(slots=True)
class Window:
    """How much of a limit one caller has left."""

    limit: int
    left: int
    reset: float
    """Epoch seconds at which the window ends."""

    @property
    def wait(self) -> int:
        """Whole seconds until the window ends, at least 1."""
        return max(1, int(self.reset - time.time()) + 1)


class RateLimiter:
    def __init__(self, scale: float, registry: CollectorRegistry) -> None:
        """`scale` multiplies every declared limit; 0 switches limits off."""
        self._scale = scale
        self._refused = Counter(
            "roost_rate_limit_refusals",
            "Requests that were refused because a limit was used up, by limit",
            ("limit",),
            registry=registry,
        )
        self._windows: OrderedDict[tuple[Caller, str], Window] = OrderedDict()
        """In the order in which they began."""

    def take(self, caller: Caller, bucket: str, rate: Rate) -> tuple[Window, bool]:
        """Count one call; False when the window was already used up. A bucket has one rate."""
        now = time.time()
        key = (caller, bucket)
        window = self._windows.get(key)
        if window is None or window.reset <= now:
            limit = max(1, int(rate.calls * (self._scale or 1)))
            window = Window(limit, limit, now + rate.seconds)
            self._windows.pop(key, None)
            self._make_room(now)
            self._windows[key] = window
        if window.left == 0 and self._scale != 0:
            self._refused.labels(bucket).inc()
            return window, False
        if window.left == 0:
            return window, True
        window.left -= 1
        return window, True

    def _make_room(self, now: float) -> None:
        """Forget windows that have ended, two for each that begins; then the oldest, never all."""
        for _ in range(2):
            oldest = next(iter(self._windows.values()), None)
            if oldest is None or (oldest.reset > now and len(self._windows) < MAX_WINDOWS):
                return
            self._windows.popitem(last=False)
