"""Why accounts have notifications: causes are asked each time, so that nothing is out of date.

A group declares its causes in its `notices.py`; `app/groups.py` lists them all.
"""

from collections.abc import Awaitable, Callable

from roost.core.notices import NotificationRow
from roost.web.call import Call

Cause = Callable[[Call], Awaitable[list[NotificationRow]]]
"""What one cause has to say to the caller's account now, in a stable order."""


class Causes:
    """All causes of an installation, in the order in which users see them."""

    def __init__(self, *causes: Cause) -> None:
        self._causes = causes

    async def notifications(self, call: Call) -> list[NotificationRow]:
        return [row for cause in self._causes for row in await cause(call)]
