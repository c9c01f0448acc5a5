"""Why accounts have notifications: causes are asked each time, so that nothing is out of date.

A group declares its causes in its `notices.py` and its manifest.
"""

from collections.abc import Awaitable, Callable

from roost.core.notices import NotificationRow
from roost.web.call import Call

Cause = Callable[[Call], Awaitable[list[NotificationRow]]]
"""What one cause has to say to the caller's account now, in a stable order."""
_SEVERITIES = ("critical", "major", "minor")


class Causes:
    """All causes of an installation."""

    def __init__(self, *causes: Cause) -> None:
        self._causes = causes

    async def notifications(self, call: Call) -> list[NotificationRow]:
        """The most pressing first."""
        rows = [row for cause in self._causes for row in await cause(call)]
        return sorted(rows, key=lambda row: _SEVERITIES.index(row["severity"]))
