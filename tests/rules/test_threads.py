"""The pools of threads for work that blocks."""

import asyncio
import threading

import pytest

from roost.threads import Threads


async def test_who_is_cancelled_leaves_before_the_work_has_ended() -> None:
    begun, go_on = threading.Event(), threading.Event()
    task = asyncio.create_task(Threads("test", 1).run(_work, begun, go_on))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()


async def test_work_that_is_to_finish_is_waited_for() -> None:
    begun, go_on = threading.Event(), threading.Event()
    task = asyncio.create_task(Threads("test", 1).finish(_work, begun, go_on))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    assert await asyncio.wait({task}, timeout=0.1) == (set(), {task})
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_work_is_its_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        await Threads("test", 1).finish(divmod, 1, 0)


def _work(begun: threading.Event, go_on: threading.Event) -> None:
    begun.set()
    assert go_on.wait(30)
