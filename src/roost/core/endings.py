"""What ends with an account that is canceled: groups say here what accounts have, and how it ends.

Groups whose rows go with others', as disks go with instances, say nothing.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from roost.core import ending_queries
from roost.core.context import Context
from roost.store import Queries


@dataclass(frozen=True)
class Ending:
    """One kind of things that accounts have."""

    noun: str
    """What `roost fsck` calls one: `volume`."""
    held: str
    """A select of all that accounts have: `id` (text), `account_id`, and `waits`, whether the end
    is on its way, or something else has to end before."""
    end: Callable[[Context, str], Awaitable[None]]
    """Start the end of one, in a transaction and as an unrestricted user of its account.

    Raises ApiError while it cannot be ended.
    """


class Endings:
    """All of them."""

    def __init__(self, *endings: Ending) -> None:
        self._all = endings

    async def due(self, db: Queries, account_id: int, limit: int) -> list[tuple[Ending, str]]:
        """What can be ended now, by its id; at most `limit` of each kind."""
        return [
            (ending, found)
            for ending in self._all
            for found in await ending_queries.due(db, ending.held, account_id, limit)
        ]

    async def holds(self, db: Queries, account_id: int) -> bool:
        """Whether the account has anything, also what is ending."""
        for ending in self._all:
            if await ending_queries.holds(db, ending.held, account_id):
                return True
        return False

    async def of_canceled(self, db: Queries) -> Mapping[int, list[str]]:
        """What canceled accounts still have, such as `2 x volume`."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for ending in self._all:
            for account_id, count in await ending_queries.of_canceled(db, ending.held):
                found[account_id].append(f"{count} x {ending.noun}")
        return found
