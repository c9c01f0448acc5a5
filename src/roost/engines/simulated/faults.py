"""What goes wrong in a simulated data plane, and how long it takes, as a lab sets it.

The plan is kept in the state file, so that it holds for every process that uses the engine.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import TypeAlias

from roost.engines.simulated.state import Documents, StateFile
from roost.waiting import NotYetError, asks_again, is_leaving, stay

Progress: TypeAlias = Callable[[int], Awaitable[None]]

_ALL = "*"
_COPY_STEPS = 4


@dataclass(frozen=True, slots=True)
class Fault:
    """A planned failure; `calls` is how many more calls fail, None means all of them."""

    reason: str
    calls: int | None


class FaultPlan:
    """Faults and latencies by operation."""

    def __init__(self, state: StateFile, latency: float) -> None:
        """`latency` in seconds holds for every operation that has none of its own."""
        self._state = state
        self._latency = latency

    async def fail(self, operation: str, reason: str, calls: int | None = None) -> None:
        """Let the next `calls` calls of the operation fail, or every call."""
        if calls is not None and calls < 1:
            raise ValueError("calls must be at least 1")
        body = json.dumps(asdict(Fault(reason, calls)))
        await self._state.change("fault", operation, lambda _: body)

    async def mend(self, operation: str) -> None:
        """Drop the operation's fault."""
        await self._state.change("fault", operation, lambda _: None)

    async def faults(self) -> dict[str, Fault]:
        """Planned faults by operation."""
        bodies = await self._state.read_all("fault")
        return {operation: Fault(**json.loads(body)) for operation, body in bodies.items()}

    async def set_latency(self, seconds: float, operation: str | None = None) -> None:
        """How long an operation takes from now on; None sets it for all without their own.

        What has begun ends when it takes no time any more.
        """
        if seconds < 0:
            raise ValueError("seconds must not be negative")

        def work(documents: Documents) -> None:
            documents.write("latency", operation or _ALL, str(seconds))
            if not seconds:
                for name in documents.read_all("begun", f"{operation} " if operation else ""):
                    documents.write("begun", name, None)

        await self._state.transact(work)

    async def latency(self, operation: str) -> float:
        """Seconds."""
        return await self._state.transact_few(lambda documents: self._seconds(documents, operation))

    async def reason(self, operation: str) -> str | None:
        """Why this call of the operation fails, or None; uses up one planned failure."""
        return await self._state.transact_few(lambda documents: self.use(documents, operation))

    def use(self, documents: Documents, operation: str) -> str | None:
        """Why this call fails, as `reason` tells, within a transaction that commits."""
        body = documents.read("fault", operation)
        if body is None:
            return None
        fault = Fault(**json.loads(body))
        if fault.calls is not None:
            calls = fault.calls - 1
            left = json.dumps(asdict(Fault(fault.reason, calls))) if calls else None
            documents.write("fault", operation, left)
        return fault.reason

    async def wait(self, operation: str, key: str, at_most: float | None = None) -> None:
        """Let the operation on something take its time, but no longer than `at_most` seconds.

        For a job that is NotYetError until the time since the first call has passed.
        """
        if not asks_again():
            seconds = await self.latency(operation)
            await asyncio.sleep(seconds if at_most is None else min(seconds, at_most))
            return
        seconds, passed = await self._clock(operation, key, at_most)
        left = seconds - passed
        if left > 0 and is_leaving():
            raise NotYetError(left)
        if left > 0:
            await asyncio.sleep(left)
            await self._clock(operation, key, at_most)
        elif seconds:
            stay()

    async def copy(self, operation: str, key: str, progress: Progress) -> None:
        """Let a copy take its time, as `wait` does, and tell how far it is."""
        if not asks_again():
            await _pass(await self.latency(operation), progress)
            return
        seconds, passed = await self._clock(operation, key)
        left = seconds - passed
        if left > 0 and is_leaving():
            await progress(int(100 * passed / seconds))
            raise NotYetError(min(left, seconds / _COPY_STEPS))
        if left > 0:
            await _pass(left, progress)
            await self._clock(operation, key)
        elif seconds:
            stay()

    async def _clock(
        self, operation: str, key: str, at_most: float | None = None
    ) -> tuple[float, float]:
        """How many seconds the operation takes, and how many have passed since it began, which is
        now if it has not; once its time has passed, the next call begins anew."""

        def look(documents: Documents) -> tuple[float, float]:
            return self.clock(documents, operation, key, at_most)

        return await self._state.transact_few(look)

    def clock(
        self, documents: Documents, operation: str, key: str, at_most: float | None = None
    ) -> tuple[float, float]:
        """The seconds of an operation, and those passed, within a transaction that commits."""
        now, name = time.time(), f"{operation} {key}"
        seconds = self._seconds(documents, operation)
        seconds = seconds if at_most is None else min(seconds, at_most)
        if not seconds:
            return 0, 0
        began = documents.read("begun", name)
        passed = 0 if began is None else now - float(began)
        if began is None:
            documents.write("begun", name, str(now))
        elif passed >= seconds:
            documents.write("begun", name, None)
        return seconds, passed

    def _seconds(self, documents: Documents, operation: str) -> float:
        planned = documents.read("latency", operation) or documents.read("latency", _ALL)
        return self._latency if planned is None else float(planned)


async def _pass(seconds: float, progress: Progress) -> None:
    for step in range(_COPY_STEPS):
        await progress(100 * step // _COPY_STEPS)
        await asyncio.sleep(seconds / _COPY_STEPS)
    await progress(100)
