"""How many requests of one user, and of one account, are worked on at once.

All tenants share the connections to the database: whoever sends many requests at once waits for
their own, and leaves connections to others.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from types import TracebackType

from roost.errors import ApiError, Problem

MAX_OPEN = 128
"""Requests of one user that may be there at once, with those that wait or are still being read."""
WAIT_SECONDS = 20.0


def _too_many() -> ApiError:
    return ApiError(429, [Problem("Too many requests at once")], ((b"retry-after", b"1"),))


class _ExpiredError(Exception):
    """The wait for a turn has taken too long."""


def _expire(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_exception(_ExpiredError())


@dataclass(slots=True, eq=False)
class _Group:
    """The requests of an account."""

    running: int = 0
    users: dict[int, int] = field(default_factory=dict)
    """How many of `running` are whose."""
    waiting: "deque[tuple[int, asyncio.Future[None]]]" = field(default_factory=deque)


class Turns:
    """Counts the requests of this process."""

    def __init__(self, connections: int) -> None:
        """`connections`: to the database; a user may take half, an account three quarters."""
        self._most_of_user = max(1, connections // 2)
        self._most = max(1, connections * 3 // 4)
        self._open: dict[int, int] = {}
        self._groups: dict[int, _Group] = {}

    def enter(self, user: int) -> None:
        """A request has come; raises 429 when too many of this user are there."""
        count = self._open.get(user, 0)
        if count >= MAX_OPEN:
            raise _too_many()
        self._open[user] = count + 1

    def leave(self, user: int) -> None:
        """It has been answered."""
        count = self._open.pop(user)
        if count > 1:
            self._open[user] = count - 1

    def turn(self, account: int, user: int) -> "Turn":
        """The time in which a request is worked on, for an `async with`; raises 429 when those
        before it take too long."""
        return Turn(self, account, user)

    async def begin(self, account: int, user: int) -> None:
        group = self._groups.get(account)
        if group is None:
            group = self._groups[account] = _Group()
        if self._may_run(group, user):
            _start(group, user)
            return
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        group.waiting.append((user, waiter))
        expiry = loop.call_later(WAIT_SECONDS, _expire, waiter)
        try:
            await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.end(account, user)  # It was given the turn in the same moment.
            else:
                group.waiting.remove((user, waiter))
                self._forget(account, group)
            if isinstance(error, _ExpiredError):
                raise _too_many() from None
            raise
        finally:
            expiry.cancel()

    def end(self, account: int, user: int) -> None:
        group = self._groups[account]
        group.running -= 1
        group.users[user] -= 1
        if not group.users[user]:
            del group.users[user]
        self._wake(group)
        self._forget(account, group)

    def _forget(self, account: int, group: _Group) -> None:
        if not group.running and not group.waiting:
            del self._groups[account]

    def _may_run(self, group: _Group, user: int) -> bool:
        return group.running < self._most and group.users.get(user, 0) < self._most_of_user

    def _wake(self, group: _Group) -> None:
        """First come, first served, but for users who have as many turns as they may."""
        for user, waiter in group.waiting:
            if not waiter.done() and self._may_run(group, user):
                group.waiting.remove((user, waiter))
                _start(group, user)
                waiter.set_result(None)
                return


def _start(group: _Group, user: int) -> None:
    group.running += 1
    group.users[user] = group.users.get(user, 0) + 1


class Turn:
    __slots__ = ("_account", "_turns", "_user")

    def __init__(self, turns: Turns, account: int, user: int) -> None:
        self._turns = turns
        self._account = account
        self._user = user

    async def __aenter__(self) -> None:
        await self._turns.begin(self._account, self._user)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._turns.end(self._account, self._user)
