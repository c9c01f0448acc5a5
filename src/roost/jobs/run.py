"""What a step is given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from roost.clock import Clock
from roost.jobs.model import Job
from roost.jobs.verdicts import JsonObject
from roost.services import Services
from roost.store import Store

Args = TypeVar("Args", covariant=True)
Service = TypeVar("Service")


@dataclass(frozen=True, slots=True)
class Tools:
    """What a worker lends to steps."""

    store: Store
    clock: Clock
    services: Services
    report: Callable[[int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Run(Generic[Args]):
    """One attempt of one step."""

    args: Args
    job: Job
    tools: Tools

    @property
    def store(self) -> Store:
        return self.tools.store

    @property
    def clock(self) -> Clock:
        return self.tools.clock

    @property
    def attempt(self) -> int:
        """1 for the first attempt of this step."""
        return self.job.attempt + 1

    def get(self, kind: type[Service]) -> Service:
        """A service by its (concrete) type. LookupError when the worker has none."""
        return self.tools.services.get(kind)

    def result(self, step: str) -> JsonObject:
        """What an earlier step handed on. KeyError when it handed on nothing."""
        result = self.job.results[step]
        if not isinstance(result, dict):
            raise TypeError(f"the result of {step} is not an object")
        return result

    async def progress(self, percent: int) -> None:
        """Show how far the job is, 0 to 100. Cheap: most calls in a row write nothing."""
        await self.tools.report(percent)
