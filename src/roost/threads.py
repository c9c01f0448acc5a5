"""Threads for work that blocks: named pools of a fixed size, one for each sort of work.

asyncio's own pool is shared by everything that uses it, so that one kind of slow work there delays
all others. Nothing that waits for the network runs in a thread, as a thread cannot be cancelled:
the process would wait for it when it stops.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """At most `size` calls at the same time; others wait for their turn."""

    def __init__(self, name: str, size: int) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns. When this is cancelled, work that has begun goes on to its end."""
        context = copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: context.run(work, *args, **kwargs))


DISK = Threads("disk", 8)
"""Files and folders of this machine."""

STATE = Threads("state", 2)
"""Short transactions of the simulated engines' own files."""

COMPUTING = Threads("computing", os.cpu_count() or 1)
"""What takes a processor for a while: hashing, parsing, decoding what callers sent."""
