"""How many requests of a user and of an account are worked on at once."""

import asyncio

import pytest

from roost.errors import ApiError
from roost.web import turns as bounds
from roost.web.turns import Turns

ACCOUNT, OTHER = 1, 2


class Work:
    """Requests that go on until they are told to end."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.running: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, name: str, account: int, user: int) -> None:
        """As far as it gets by itself."""
        self._ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._run(name, account, user))
        await self.settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self.tasks[name]
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def _run(self, name: str, account: int, user: int) -> None:
        async with self._turns.turn(account, user):
            self.running.append(name)
            await self._ends[name].wait()
            self.running.remove(name)


async def test_a_user_has_half_and_an_account_three_quarters() -> None:
    work = Work(Turns(8))
    for number in range(5):
        await work.begin(f"a{number}", ACCOUNT, 11)
    assert work.running == ["a0", "a1", "a2", "a3"]
    for number in range(3):
        await work.begin(f"b{number}", ACCOUNT, 12)
    assert work.running == ["a0", "a1", "a2", "a3", "b0", "b1"]
    await work.begin("c0", OTHER, 21)
    assert work.running[-1] == "c0"
    await work.end("b0")
    assert work.running[-1] == "b2", "a4 waits for a turn of its own user"
    await work.end("a1")
    assert work.running[-1] == "a4"
    for name in ("a0", "a2", "a3", "a4", "b1", "b2", "c0"):
        await work.end(name)
    assert work.running == []


async def test_one_connection_is_enough() -> None:
    work = Work(Turns(1))
    await work.begin("first", ACCOUNT, 11)
    await work.begin("second", ACCOUNT, 11)
    assert work.running == ["first"]
    await work.end("first")
    assert work.running == ["second"]
    await work.end("second")


async def test_who_no_longer_waits_is_passed_over() -> None:
    work = Work(Turns(2))
    for name in ("first", "second", "third"):
        await work.begin(name, ACCOUNT, 11)
    work.tasks["second"].cancel()
    await work.settle()
    await work.end("first")
    assert work.running == ["third"]
    await work.end("third")


async def test_a_turn_that_is_given_to_one_who_leaves_goes_on() -> None:
    turns = Turns(1)
    await turns.begin(ACCOUNT, 11)
    waiting = asyncio.create_task(turns.begin(ACCOUNT, 11))
    await asyncio.sleep(0)
    turns.end(ACCOUNT, 11)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(30), turns.turn(ACCOUNT, 11):
        pass


async def test_who_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "WAIT_SECONDS", 0.01)
    work = Work(Turns(2))
    await work.begin("first", ACCOUNT, 11)
    await work.begin("second", ACCOUNT, 11)
    with pytest.raises(ApiError) as refusal:
        await work.tasks["second"]
    assert refusal.value.status == 429
    assert dict(refusal.value.headers) == {b"retry-after": b"1"}
    await work.end("first")
    await work.begin("third", ACCOUNT, 11)
    assert work.running == ["third"]
    await work.end("third")


async def test_who_leaves_in_the_moment_of_a_refusal_had_no_turn() -> None:
    turns = Turns(2)
    work = Work(turns)
    await work.begin("a", ACCOUNT, 11)
    await work.begin("b", ACCOUNT, 11)
    [(_, waiter)] = turns._groups[ACCOUNT].waiting
    bounds._expire(waiter)
    work.tasks["b"].cancel()
    await work.begin("c", ACCOUNT, 11)
    assert work.tasks["b"].cancelled()
    assert work.running == ["a"]
    await work.end("a")
    assert work.running == ["c"]
    await work.end("c")


def test_a_user_may_have_so_many_requests_open() -> None:
    turns = Turns(8)
    for _ in range(bounds.MAX_OPEN):
        turns.enter(11)
    with pytest.raises(ApiError) as refusal:
        turns.enter(11)
    assert refusal.value.status == 429
    turns.enter(12)
    turns.leave(11)
    turns.enter(11)
