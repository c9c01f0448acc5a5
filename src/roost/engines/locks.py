"""Locks between tasks and processes, tied to a directory and free of lock files."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

_POLL_SECONDS = 0.02


@asynccontextmanager
async def locked(directory: Path) -> AsyncIterator[None]:
    """Hold the directory, which must exist; FileNotFoundError when it goes away meanwhile."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        while True:
            if try_lock(descriptor):
                break
            await asyncio.sleep(_POLL_SECONDS)
        if not os.path.samestat(os.fstat(descriptor), os.stat(directory)):
            raise FileNotFoundError(directory)
        yield
    finally:
        os.close(descriptor)


@asynccontextmanager
async def all_locked(directories: Iterable[Path]) -> AsyncIterator[None]:
    """Hold several; in one order for all who do, so that none waits for another in a circle."""
    async with AsyncExitStack() as stack:
        for directory in sorted(set(directories)):
            await stack.enter_async_context(locked(directory))
        yield


def try_lock(descriptor: int) -> bool:
    """Hold what is open there until it is closed; False while somebody else does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
