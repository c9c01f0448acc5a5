"""The one source of time.

All times in Roost are UTC and naive, as the API shows them without a zone. A lab may move the
clock; leases of jobs and timeouts of engines measure real time and do not use it.
"""

from datetime import UTC, datetime, timedelta


class Clock:
    """Wall-clock time plus an offset that only a lab moves."""

    def __init__(self, offset: timedelta = timedelta()) -> None:
        self.offset = offset

    def now(self) -> datetime:
        """UTC with microseconds, without zone."""
        return datetime.now(UTC).replace(tzinfo=None) + self.offset

    def seconds(self) -> datetime:
        """UTC in whole seconds, as records show it."""
        return self.now().replace(microsecond=0)

    def advance(self, by: timedelta) -> None:
        self.offset += by
