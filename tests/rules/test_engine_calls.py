"""What is measured of engines."""

import asyncio

import pytest
from prometheus_client import CollectorRegistry

from roost.app.engine_calls import EngineCalls
from roost.core.engine import EngineError, Health
from roost.core.planes import Binding, Engine
from roost.waiting import NotYetError


class Shelf:
    async def keep(self, number: int) -> int:
        return number + 1


class Toy:
    """An engine that does as it is told."""

    name = "toy"
    disks = Shelf()
    answer: Exception | None = None

    async def health(self) -> Health:
        if self.answer is not None:
            raise self.answer
        return Health(True, "toy")

    async def close(self) -> None:
        await asyncio.Event().wait()

    def listening(self) -> str:
        return "here"


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def toy(registry: CollectorRegistry) -> Toy:
    binding: Binding[Engine] = Binding("toys", "all", Toy(), True, "for a test")
    engine = EngineCalls(registry).measured(binding).engine
    assert isinstance(engine, Toy)
    return engine


def calls(registry: CollectorRegistry, operation: str) -> float | None:
    labels = {"plane": "toys", "engine": "toy", "operation": operation}
    return registry.get_sample_value("roost_engine_call_seconds_count", labels)


def faults(registry: CollectorRegistry, operation: str, fault: str) -> float | None:
    labels = {"plane": "toys", "engine": "toy", "operation": operation, "fault": fault}
    return registry.get_sample_value("roost_engine_faults_total", labels)


async def test_calls_are_counted(registry: CollectorRegistry, toy: Toy) -> None:
    assert await toy.health() == Health(True, "toy")
    assert (await toy.disks.keep(1), await toy.disks.keep(2)) == (2, 3)
    assert toy.listening() == "here"
    assert (calls(registry, "health"), calls(registry, "disks.keep")) == (1, 2)
    assert calls(registry, "listening") is None


@pytest.mark.parametrize(
    ("error", "fault"), [(EngineError("full"), "EngineError"), (KeyError("x"), "unexpected")]
)
async def test_faults_are_counted_by_kind(
    registry: CollectorRegistry, toy: Toy, error: Exception, fault: str
) -> None:
    """What is written to it is written to the engine itself."""
    toy.answer = error
    with pytest.raises(type(error)):
        await toy.health()
    assert (calls(registry, "health"), faults(registry, "health", fault)) == (1, 1)


async def test_a_call_that_is_cut_off_is_a_fault(registry: CollectorRegistry, toy: Toy) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await toy.close()
    assert faults(registry, "close", "cancelled") == 1


async def test_what_goes_on_is_not_counted_yet(registry: CollectorRegistry, toy: Toy) -> None:
    toy.answer = NotYetError(1)
    with pytest.raises(NotYetError):
        await toy.health()
    assert calls(registry, "health") is None
