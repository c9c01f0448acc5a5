"""Rate limits: fixed windows, counted in this process (reference: errors, Rate limits)."""

import time
from dataclasses import dataclass

from roost.web.registry import Rate

_WINDOWS = 100_000


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
    def __init__(self, scale: float) -> None:
        """`scale` multiplies every declared limit; 0 switches limits off."""
        self._scale = scale
        self._windows: dict[tuple[str, Rate], Window] = {}

    def take(self, caller: str, bucket: str, rate: Rate) -> tuple[Window, bool]:
        """Count one call; False when the window was already used up."""
        now = time.time()
        key = (f"{caller}/{bucket}", rate)
        window = self._windows.get(key)
        if window is None or window.reset <= now:
            limit = max(1, int(rate.calls * (self._scale or 1)))
            window = Window(limit, limit, now + rate.seconds)
            self._remember(key, window, now)
        if window.left == 0:
            return window, self._scale == 0
        window.left -= 1
        return window, True

    def _remember(self, key: tuple[str, Rate], window: Window, now: float) -> None:
        if len(self._windows) >= _WINDOWS:
            self._windows = {k: w for k, w in self._windows.items() if w.reset > now}
        if len(self._windows) >= _WINDOWS:
            self._windows.clear()
        self._windows[key] = window
