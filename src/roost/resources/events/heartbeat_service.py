"""Heartbeats of streams: so many at a time that events are never behind all of them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import cycle
from time import monotonic

from roost.resources.events.reader_service import Stream

HEARTBEAT_SECONDS = 25.0
"""Proxies mostly end what is silent for 30 or 60."""
_TURNS = 250
"""Of each heartbeat: streams that begin together have theirs at other moments."""
_LATE_SECONDS = 1.0
"""Made up for on a busy machine."""


class Heartbeats:
    """Wakes each stream once in `HEARTBEAT_SECONDS`: one timer for all of them."""

    def __init__(self) -> None:
        self._turns: list[set[Stream]] = [set() for _ in range(_TURNS)]
        self._next = cycle(self._turns)
        self._some = asyncio.Event()
        self._count = 0

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()

    @contextmanager
    def of(self, stream: Stream) -> Iterator[None]:
        """Wake a stream inside the block."""
        turn = next(self._next)
        turn.add(stream)
        self._count += 1
        self._some.set()
        try:
            yield
        finally:
            turn.discard(stream)
            self._count -= 1
            if not self._count:
                self._some.clear()

    async def _beat(self) -> None:
        due = monotonic()
        for turn in cycle(self._turns):
            await self._some.wait()
            due = max(due + HEARTBEAT_SECONDS / _TURNS, monotonic() - _LATE_SECONDS)
            await asyncio.sleep(due - monotonic())
            for stream in turn:
                stream.is_due = True
                stream.wake.set()
