"""Changes of events as they are committed, for all who wait in this process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from uuid import uuid4

import structlog

from roost.core.events import change_queries as queries
from roost.core.events.change_queries import Change
from roost.store import FAULTS, Store

Follower = Callable[[Sequence[Change], int], Awaitable[None]]
"""Is given the changes of all accounts in their order, and the position that they reach to."""

LOOK_SECONDS = 1.0
"""Between two looks when nobody says that there is something."""
_PAUSE_SECONDS = 0.02
"""Between two looks: what comes together is looked for once."""
_LINGER_SECONDS = 30.0
"""After the last who waited: the next one is mostly there sooner."""
_SIGN_SECONDS = 60.0
"""Between two signs of life to those who tell."""
_BATCH = 1000
_ORDER_SECONDS = 10.0

_log = structlog.get_logger(__name__)


class Feed:
    """One reader for each process, which looks once for all, and only while somebody waits."""

    def __init__(self) -> None:
        self._followers: list[Follower] = []
        self._waiting: dict[int, set[asyncio.Event]] = {}
        self.has_ended = False
        """Whether the server stops, and nobody shall wait any longer."""
        self._left = 0.0
        self._id = uuid4()
        self._told = asyncio.Event()
        self._started = asyncio.Event()
        self._position = 0
        self._store: Store | None = None
        self._task: asyncio.Task[None] | None = None

    def follow(self, follower: Follower) -> None:
        """Tell a follower of every batch, before the next one is looked for."""
        self._followers.append(follower)

    @asynccontextmanager
    async def open(self, store: Store) -> AsyncIterator[None]:
        """Let others wait until the end of the block."""
        await store.listen(queries.CHANNEL, lambda _payload: self._told.set())
        self._store = store
        try:
            yield
        finally:
            self._store = None
            if self._task is not None:
                self._task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._task
                with contextlib.suppress(*FAULTS):
                    await queries.unregister(store, self._id)

    def end(self) -> None:
        """Wake all who wait."""
        self.has_ended = True
        self._started.set()
        for waiting in self._waiting.values():
            for changed in waiting:
                changed.set()

    @asynccontextmanager
    async def awaited(self, account_id: int) -> AsyncIterator[asyncio.Event]:
        """Followers are told of all that is committed inside the block, and maybe of more; the
        event is set when that is of the account."""
        assert self._store is not None
        changed = asyncio.Event()
        of_account = self._waiting.setdefault(account_id, set())
        of_account.add(changed)
        try:
            if self._task is None or self._task.done():
                self._started = asyncio.Event()
                self._task = asyncio.create_task(self._run(self._store))
            await self._started.wait()
            yield changed
        finally:
            of_account.discard(changed)
            if not of_account:
                self._waiting.pop(account_id, None)
            self._left = monotonic()

    async def _run(self, store: Store) -> None:
        signed: float | None = None
        # A name of its own: the one before it may still be about to take its name away.
        self._id = reader = uuid4()
        while self._waiting or monotonic() < self._left + _LINGER_SECONDS:
            self._told.clear()
            try:
                if signed is None or monotonic() > signed + _SIGN_SECONDS:
                    await queries.drop_dead(store)
                    await queries.register(store, reader)
                    signed = monotonic()
                if not self._started.is_set():
                    await self._begin(store)
                await self._look(store)
            except FAULTS as error:
                _log.warning("events_not_followed", error=repr(error))
            await asyncio.sleep(_PAUSE_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._told.wait()
        self._task = None
        with contextlib.suppress(*FAULTS):
            await queries.unregister(store, reader)

    async def _begin(self, store: Store) -> None:
        """With what is committed from now on."""
        while await order(store):
            pass
        await self._tell((), await queries.last_position(store))
        self._started.set()

    async def _look(self, store: Store) -> None:
        more = True
        while more:
            more = await order(store)
            changes = await queries.list_changes(store, self._position, _BATCH)
            if not changes:
                return
            await self._tell(changes, changes[-1].position)
            more = more or len(changes) == _BATCH

    async def _tell(self, changes: Sequence[Change], position: int) -> None:
        """What a follower could not take is told once more."""
        for follower in self._followers:
            await follower(changes, position)
        self._position = position
        for account_id in {each.account_id for each in changes}:
            for changed in self._waiting.get(account_id, ()):
                changed.set()


async def order(store: Store) -> bool:
    """Give positions to changes that have none; whether there may be more of them."""
    return await queries.order(store, _BATCH)


async def keep_in_order(store: Store) -> None:
    """Also while nobody waits: the first who does shall find little to do."""
    while True:
        try:
            more = await order(store)
        except FAULTS as error:
            _log.warning("events_not_ordered", error=repr(error))
            more = False
        await asyncio.sleep(0 if more else _ORDER_SECONDS)
