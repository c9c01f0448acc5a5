"""What rests while an account is suspended: groups say here what runs, how it rests and goes on.

What is only kept goes on as it is: volumes, images, zones, buckets, addresses.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from roost.core import ending_queries
from roost.core.context import Context
from roost.store import Queries

SUSPENDED = "This account is suspended. Please make a payment, or open a support ticket."

Change = Callable[[Context, str], Awaitable[None]]
"""Begin it for one thing, by its id, in a transaction and as an unrestricted user of its account.
Raises ApiError while it cannot be."""


@dataclass(frozen=True)
class Suspension:
    """One kind of things that run."""

    running: str
    """A select of all that do not rest: `id` (text), `account_id`, and `waits`, whether something
    else has to end before."""
    resting: str
    """A select, in the same form, of what rests because of its account."""
    rest: Change
    resume: Change


class Suspensions:
    """All of them."""

    def __init__(self, *suspensions: Suspension) -> None:
        self._all = suspensions

    async def due(
        self, db: Queries, account_id: int, limit: int, *, suspended: bool
    ) -> list[tuple[Change, str]]:
        """What is to be begun now, so that all is as the account is; at most `limit` of a kind."""
        return [
            (each.rest if suspended else each.resume, found)
            for each in self._all
            for found in await ending_queries.due(db, _others(each, suspended), account_id, limit)
        ]

    async def unsettled(self, db: Queries, account_id: int, *, suspended: bool) -> bool:
        """Whether anything of the account is not as the account is."""
        for each in self._all:
            if await ending_queries.holds(db, _others(each, suspended), account_id):
                return True
        return False

    async def unsettled_accounts(self, db: Queries) -> list[int]:
        """Accounts of which something is not as the account is."""
        found = set[int]()
        for each in self._all:
            for suspended in (True, False):
                others = _others(each, suspended)
                found.update(await ending_queries.of_suspended(db, others, suspended))
        return sorted(found)


def _others(each: Suspension, suspended: bool) -> str:
    return each.running if suspended else each.resting
