"""How many slow look-ups of one caller go on in this process at the same time."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from roost.errors import ApiError, Problem


class AtOnce:
    """At most `limit` of each caller; further ones are refused, not made to wait."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: Counter[Hashable] = Counter()

    @contextmanager
    def one(self, caller: Hashable) -> Iterator[None]:
        """Raises ApiError 429 when the caller has as many."""
        if self._held[caller] >= self._limit:
            raise ApiError(429, [Problem("Too many requests at the same time")])
        self._held[caller] += 1
        try:
            yield
        finally:
            self._held[caller] -= 1
            if not self._held[caller]:
                del self._held[caller]
