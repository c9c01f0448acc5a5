"""Threads for work that blocks: named pools of a fixed size, one for each sort of work.

asyncio's own pool is shared by everything that uses it, so that one kind of slow work there delays
all others, and a process that ends waits for it. These threads die with the process, whatever they
do. Nothing that waits for the network runs in a thread, as a thread cannot be cancelled: it would
keep its place. The system's resolver, which can be asked in no other way, has a pool alone. No
account has all threads of a pool, and those who wait are served in turn.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

from roost.shares import Queues, current_account

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """At most `size` calls at the same time; others wait for their turn."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._started = 0
        self._lock = threading.Lock()
        self._waiting: Queues[Callable[[], None]] = Queues(size)
        self._work: SimpleQueue[tuple[int | None, Callable[[], None]]] = SimpleQueue()
        """Whose turn it is, each with a thread that is free or about to start."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns. When this is cancelled, work that has begun goes on to its end."""
        context = copy_context()
        future: Future[T] = Future()

        def do() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(context.run(work, *args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        with self._lock:
            self._waiting.add(current_account(), do)
            self._hand_out()
        return await asyncio.wrap_future(future)

    async def finish(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `run`, for what nobody else may come upon half done: a caller that is cancelled leaves
        when work that has begun has come to its end."""
        task = asyncio.create_task(self.run(work, *args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            raise

    def _hand_out(self) -> None:
        while (given := self._waiting.next()) is not None:
            self._work.put(given)
            if self._waiting.taken > self._started:
                self._start()

    def _start(self) -> None:
        self._started += 1
        name = f"{self._name}-{self._started}"
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        while True:
            account, work = self._work.get()
            work()
            with self._lock:
                self._waiting.release(account)
                self._hand_out()


DISK = Threads("disk", 8)
"""Files and folders of this machine."""

STATE = Threads("state", 2)
"""Short transactions of the simulated engines' own files."""

UPLOADS = Threads("uploads", 4)
"""Unpacking what callers upload, and writing it to disk."""

COMPUTING = Threads("computing", max(2, os.cpu_count() or 1))
"""What takes a processor for a while: hashing, parsing, decoding what callers sent."""

PAPERS = Threads("papers", 2)
"""Files for people: long pages that are laid out, one of an account at a time."""

NAMES = Threads("names", 64)
"""Addresses of names that accounts choose, whose name servers may not answer."""
