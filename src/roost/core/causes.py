"""Why accounts have notifications: causes are asked each time, so that nothing is out of date.

A group declares its causes in its `notices.py` and its manifest.
"""

from collections.abc import Awaitable, Callable

from roost.core.context import Context
from roost.core.notices import NotificationRow

Cause = Callable[[Context], Awaitable[list[NotificationRow]]]
"""What one cause has to say to the caller's account now, in a stable order."""
_SEVERITIES = ("critical", "major", "minor")


class Causes:
    """All causes of an installation."""

    def __init__(self, *causes: Cause) -> None:
        self._causes = causes

    async def notifications(self, context: Context) -> list[NotificationRow]:
        """The most pressing first."""
        rows = [row for cause in self._causes for row in await cause(context)]
        return sorted(rows, key=lambda row: _SEVERITIES.index(row["severity"]))
