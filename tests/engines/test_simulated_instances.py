"""What only the simulated engine does: planned faults, latencies, and saved states."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from roost.clock import Clock
from roost.engines.simulated.instances import Operation, SimulatedInstances
from roost.resources.compute.engine import EngineError, InstanceSpec
from tests.engines.harness import SimulatedHarness, until


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[SimulatedInstances]:
    engine = SimulatedInstances(tmp_path, latency=0, clock=Clock())
    yield engine
    await engine.close()


@pytest.fixture
def spec(tmp_path: Path) -> InstanceSpec:
    return SimulatedHarness(tmp_path).spec(100_001)


async def _call(engine: SimulatedInstances, operation: Operation, spec: InstanceSpec) -> None:
    match operation:
        case "create":
            await engine.create(spec)
        case "start":
            await engine.start(spec)
        case "stop":
            await engine.stop(spec.id, 0)
        case "delete":
            await engine.delete(spec.id)
        case "inspect":
            await engine.inspect(spec.id)


@pytest.mark.parametrize("operation", ["create", "start", "stop", "delete", "inspect"])
async def test_a_planned_fault_fails_as_many_calls_as_asked(
    engine: SimulatedInstances, spec: InstanceSpec, operation: Operation
) -> None:
    await engine.create(spec)
    await engine.plan.fail(operation, "The disk is full", calls=2)
    for _ in range(2):
        with pytest.raises(EngineError, match=r"^The disk is full$"):
            await _call(engine, operation, spec)
    await _call(engine, operation, spec)


async def test_a_fault_without_end_holds_until_it_is_mended(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.plan.fail("create", "No capacity")
    assert (await engine.plan.faults())["create"].reason == "No capacity"
    for _ in range(3):
        with pytest.raises(EngineError):
            await engine.create(spec)
    await engine.plan.mend("create")
    await engine.create(spec)


async def test_a_fault_reaches_the_engine_of_another_process(
    engine: SimulatedInstances, spec: InstanceSpec, tmp_path: Path
) -> None:
    program = (
        "import asyncio, sys, pathlib; from roost.clock import Clock;"
        "from roost.engines.simulated.instances import SimulatedInstances;"
        "engine = SimulatedInstances(pathlib.Path(sys.argv[1]), 0, Clock());"
        "asyncio.run(engine.plan.fail('create', 'from afar', 1))"
    )
    await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program, str(tmp_path)], check=True
    )
    with pytest.raises(EngineError, match="from afar"):
        await engine.create(spec)
    await engine.create(spec)


async def test_calls_from_two_engines_share_the_planned_failures(
    engine: SimulatedInstances, spec: InstanceSpec, tmp_path: Path
) -> None:
    other = SimulatedInstances(tmp_path, latency=0, clock=Clock())
    await engine.plan.fail("create", "busy", calls=3)
    calls = [each.create(spec) for each in (engine, other) for _ in range(4)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(result, EngineError) for result in results) == 3
    await other.close()


async def test_latency_is_set_while_running(engine: SimulatedInstances, spec: InstanceSpec) -> None:
    await engine.plan.set_latency(60)
    await engine.plan.set_latency(0, "delete")
    assert await engine.plan.latency("start") == 60
    slow = asyncio.create_task(engine.create(spec))
    await until(lambda: engine.inspect(spec.id), lambda state: state is not None)
    assert not slow.done()
    slow.cancel()
    await asyncio.wait_for(engine.delete(spec.id), 5)
    assert await engine.inspect(spec.id) is None


async def test_a_plan_refuses_nonsense(engine: SimulatedInstances) -> None:
    with pytest.raises(ValueError, match="calls"):
        await engine.plan.fail("create", "x", calls=0)
    with pytest.raises(ValueError, match="negative"):
        await engine.plan.set_latency(-1)


async def test_a_stop_takes_no_longer_than_its_grace(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.create(spec)
    await engine.start(spec)
    await engine.plan.set_latency(60)
    await asyncio.wait_for(engine.stop(spec.id, 0.01), 5)


async def test_a_guest_deleted_during_its_start_stays_gone(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.create(spec)
    await engine.plan.set_latency(0.2, "start")
    start = asyncio.create_task(engine.start(spec))
    await asyncio.sleep(0)
    await engine.delete(spec.id)
    with pytest.raises(EngineError):
        await start
    assert await engine.list() == []


async def test_a_snapshot_brings_back_guests_and_plans(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.create(spec)
    await engine.start(spec)
    await engine.plan.fail("stop", "stuck")
    saved = await engine.snapshot()
    before = await engine.list()
    await engine.reset()
    assert await engine.list() == []
    assert await engine.plan.faults() == {}
    await engine.restore(saved)
    assert await engine.list() == before
    with pytest.raises(EngineError, match="stuck"):
        await engine.stop(spec.id, 0)


async def test_a_broken_snapshot_changes_nothing(
    engine: SimulatedInstances, spec: InstanceSpec
) -> None:
    await engine.create(spec)
    with pytest.raises(ValueError, match="JSON"):
        await engine.restore(b"not a snapshot")
    assert len(await engine.list()) == 1


async def test_counters_follow_the_clock(tmp_path: Path, spec: InstanceSpec) -> None:
    clock = Clock()
    engine = SimulatedInstances(tmp_path, latency=0, clock=clock)
    await engine.create(spec)
    await engine.start(spec)
    clock.advance(timedelta(days=1))
    counters = await engine.counters(spec.id)
    assert counters is not None
    assert counters.network_out_bytes >= 11_000 * 86_400
    await engine.shut_down()
    assert await engine.counters(spec.id) is None
    await engine.close()
