"""The pools of threads for work that blocks."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from roost.shares import Places, on_behalf_of
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


async def test_one_account_leaves_threads_to_others() -> None:
    threads, go_on = Threads("test", 4), threading.Event()
    begun: list[int] = []
    with on_behalf_of(1):
        held = [asyncio.create_task(threads.run(_begin, begun, n, go_on)) for n in range(20)]
    await until_true(lambda: len(begun) == 3)
    with on_behalf_of(2):
        await threads.run(begun.append, 100)
    assert begun == [0, 1, 2, 100]
    go_on.set()
    await asyncio.gather(*held)
    assert sorted(begun) == [*range(20), 100]


async def test_accounts_that_wait_have_turns() -> None:
    threads, go_on, done = Threads("test", 1), threading.Event(), list[int]()
    held, tasks = asyncio.create_task(threads.run(go_on.wait, 30)), list[asyncio.Task[None]]()
    for account, number in ((1, 10), (1, 11), (1, 12), (2, 20), (2, 21), (3, 30), (None, 0)):
        with on_behalf_of(account):
            tasks.append(asyncio.create_task(threads.run(done.append, number)))
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(held, *tasks)
    assert done == [10, 20, 30, 0, 11, 21, 12]


async def test_the_clouds_own_work_may_have_all_threads() -> None:
    threads, go_on, begun = Threads("test", 2), threading.Event(), list[int]()
    held = [asyncio.create_task(threads.run(_begin, begun, n, go_on)) for n in range(3)]
    await until_true(lambda: len(begun) == 2)
    go_on.set()
    await asyncio.gather(*held)


async def test_places_are_shared_in_the_same_way() -> None:
    places, go_on, inside = Places(2), asyncio.Event(), list[int]()

    async def stay(number: int) -> None:
        async with places.hold():
            inside.append(number)
            await go_on.wait()

    def enter(account: int, number: int) -> asyncio.Task[None]:
        with on_behalf_of(account):
            return asyncio.create_task(stay(number))

    first, second, gone = enter(1, 10), enter(1, 11), enter(1, 12)
    other = enter(2, 20)
    await until_true(lambda: len(inside) == 2)
    assert inside == [10, 20]
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    go_on.set()
    await asyncio.gather(first, second, other)
    assert inside == [10, 20, 11]
    async with places.hold(), places.hold():
        pass


def _begin(begun: list[int], number: int, go_on: threading.Event) -> None:
    begun.append(number)
    assert go_on.wait(30)


async def until_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)


def _work(begun: threading.Event, go_on: threading.Event) -> None:
    begun.set()
    assert go_on.wait(30)
