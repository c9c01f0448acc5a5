"""Refusing what is above a limit: of an account, or of a caller in this process."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.limits import queries
from roost.core.limits.kinds import LimitGroup
from roost.core.suspensions import SUSPENDED
from roost.errors import ApiError, Problem, invalid


async def check_limits(context: Context, group: LimitGroup, *grown: str) -> None:
    """The last thing that a handler does, after it has written its rows.

    Counts what the account has then, so that of two requests at a limit one is refused; others
    wait from here to the commit only. With `grown`, the other kinds of the group may be above
    their limits: an account that was given less may still change what it has.

    ApiError 400 when there is too much of something, 403 of a suspended account that wants
    another service.
    """
    await queries.hold(context.db, group.name, context.account_id)
    usage = await queries.read(context.db, context.account_id, group)
    if usage.suspended and any(kind.service for kind in group.kinds):
        raise ApiError(403, [Problem(SUSPENDED)])
    catalogue = context.get(Catalog).entries.limits
    for kind in group.kinds:
        limit = usage.own.get(kind.name, catalogue.get(kind.name, kind.default))
        if limit is None or (grown and kind.name not in grown):
            continue
        if usage.used[kind.name] > limit:
            raise invalid(kind.refusal(limit))


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
