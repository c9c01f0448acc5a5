"""Full collections of garbage, which hold up everything meanwhile, kept short.

Each looks at all that there is: 10,000 streams that are open take it most of a second. What one has
found to be in use is left out of the next ones (`gc.freeze`), and goes as all else does when
nobody refers to it any more; rings of it, which do not, are found once an hour.
"""

import gc
from time import monotonic

_FULL = 2
LONG_SECONDS = 0.02
EVERY_SECONDS = 3600.0
"""Between two collections that look at everything."""


class Collections:
    """A callback of `gc.callbacks`."""

    def __init__(self) -> None:
        self._began = self._whole = monotonic()

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if info["generation"] != _FULL:
            return
        now = monotonic()
        if phase == "start":
            self._began = now
            if now - self._whole > EVERY_SECONDS:
                self._whole = now
                gc.unfreeze()
        elif now - self._began > LONG_SECONDS:
            gc.freeze()


def keep_collections_short() -> None:
    """From now on; what a start has made stays, and would take each of them 70 ms."""
    gc.freeze()
    gc.callbacks.append(Collections())
