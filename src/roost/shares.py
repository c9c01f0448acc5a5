"""Shares of what all accounts use together and there is little of: threads, places.

First come, first served would let one who sends much make all others wait. Here those who wait are
served in turn by account, and no account has more than three quarters at the same time.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar, Token
from typing import Generic, TypeVar

T = TypeVar("T")

_ACCOUNT: ContextVar[int | None] = ContextVar("account", default=None)


class on_behalf_of:  # noqa: N801 - a block, as those of contextlib
    """What is asked for in its block is the account's; None: the cloud's own work."""

    __slots__ = ("_account", "_token")
    _token: Token[int | None]

    def __init__(self, account_id: int | None) -> None:
        self._account = account_id

    def __enter__(self) -> None:
        self._token = _ACCOUNT.set(self._account)

    def __exit__(self, *_: object) -> None:
        _ACCOUNT.reset(self._token)


def current_account() -> int | None:
    """Whose work this is."""
    return _ACCOUNT.get()


class Queues(Generic[T]):
    """Who waits for one of `size` places. Not safe between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._share = max(1, size * 3 // 4)
        self._held: Counter[int | None] = Counter()
        self._queues: dict[int | None, deque[T]] = {}
        """By account, in the order of their turns."""
        self.taken = 0
        """Places that somebody has."""

    def add(self, account: int | None, item: T) -> None:
        """To the end of the account's queue."""
        self._queues.setdefault(account, deque()).append(item)

    def next(self) -> tuple[int | None, T] | None:
        """Who gets a place now, until `release`; None while nobody can."""
        if self.taken >= self._size:
            return None
        account = next((account for account in self._queues if self._may_have(account)), None)
        if account is None and not (None in self._queues and self._may_have(None)):
            return None
        queue = self._queues.pop(account)
        item = queue.popleft()
        if queue:
            self._queues[account] = queue
        self.taken += 1
        self._held[account] += 1
        return account, item

    def release(self, account: int | None) -> None:
        """A place is free again."""
        self.taken -= 1
        self._held[account] -= 1
        if not self._held[account]:
            del self._held[account]

    def remove(self, account: int | None, item: T) -> None:
        """Somebody waits no more."""
        queue = self._queues[account]
        queue.remove(item)
        if not queue:
            del self._queues[account]

    def _may_have(self, account: int | None) -> bool:
        return account is None or self._held[account] < self._share


class Places:
    """Places of which `size` can be held at the same time."""

    def __init__(self, size: int) -> None:
        self._waiting: Queues[asyncio.Future[None]] = Queues(size)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """One of them, as soon as it is the account's turn."""
        account = current_account()
        place = asyncio.get_running_loop().create_future()
        self._waiting.add(account, place)
        self._serve()
        try:
            await place
            yield
        finally:
            if place.cancelled():
                self._waiting.remove(account, place)
            else:
                self._waiting.release(account)
                self._serve()

    def _serve(self) -> None:
        while (given := self._waiting.next()) is not None:
            given[1].set_result(None)
