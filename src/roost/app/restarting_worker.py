"""The worker of a process, which the lab can send to rest and replace by a fresh one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from roost.jobs.worker import Worker


class RestartingWorker:
    """Runs one worker at a time."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._make = make
        self._worker = make()
        self._at_rest = asyncio.Event()
        self._may_work = asyncio.Event()
        self._may_work.set()
        self._stopping = False

    @property
    def owner(self) -> str:
        """The name under which the present worker claims jobs."""
        return self._worker.owner

    async def run(self) -> None:
        """Until `stop`."""
        while True:
            self._at_rest.clear()
            try:
                await self._worker.run()
            finally:
                self._at_rest.set()
            while not self._may_work.is_set():  # It may be cleared again before this goes on.
                await self._may_work.wait()
            if self._stopping:
                return
            self._worker = self._make()

    def stop(self) -> None:
        """Hand over the jobs that run; `run` ends within 10 seconds."""
        self._stopping = True
        self._may_work.set()
        self._worker.stop()

    @asynccontextmanager
    async def rest(self) -> AsyncIterator[None]:
        """No step runs inside the block; a worker without memory goes on after it.

        Steps that run are given a few seconds to end, and are run again if they do not.
        """
        self._may_work.clear()
        self._worker.stop()
        await self._at_rest.wait()
        try:
            yield
        finally:
            self._may_work.set()
