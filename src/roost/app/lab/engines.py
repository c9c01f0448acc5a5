"""The simulated engines of this process: their latencies, faults and whole states.

The name server, which serves all regions, has a row beside theirs (`dns`).
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from typing_extensions import TypedDict

from roost.app.lab.bodies import PlanEngineFault, SetLatency
from roost.core.planes import EVERYWHERE, Binding, Engine
from roost.engines.simulated.domains import SimulatedDomains
from roost.engines.simulated.instances import SimulatedInstances
from roost.errors import invalid
from roost.resources.conditions.engine import WEBHOOK_PLANE
from roost.resources.support.engine import ATTACHMENT_PLANE, MAIL_PLANE

SimulatedEngine = SimulatedInstances | SimulatedDomains

_KEPT_ELSEWHERE = (ATTACHMENT_PLANE.name, MAIL_PLANE.name, WEBHOOK_PLANE.name)
"""Attachments are saved and reset with their rows, and letters are gone when they are sent."""


class EngineRow(TypedDict):
    """`kind` is `real` or `simulated`."""

    region: str
    plane: str
    engine: str
    kind: str


class LatencyRow(TypedDict):
    region: str
    operation: str
    seconds: float


class EngineFaultRow(TypedDict):
    """`times` is how many more calls fail; null: all."""

    region: str
    operation: str
    reason: str
    times: int | None


class LabEngines:
    """What the lab does with engines, by region: those for instances hold the state of all."""

    def __init__(self, bindings: Iterable[Binding[Engine]]) -> None:
        self._simulated: dict[str, SimulatedEngine] = {}
        self._real: list[str] = []
        self.listed: list[EngineRow] = []
        for binding in bindings:
            if binding.plane in _KEPT_ELSEWHERE:
                continue
            place = binding.plane if binding.place == EVERYWHERE else binding.place
            kind = "real" if binding.real else "simulated"
            self.listed.append(
                {
                    "region": place,
                    "plane": binding.plane,
                    "engine": binding.engine.name,
                    "kind": kind,
                }
            )
            if binding.real:
                self._real.append(place)
            elif isinstance(binding.engine, SimulatedInstances | SimulatedDomains):
                self._simulated[place] = binding.engine

    def all(self) -> Mapping[str, SimulatedEngine]:
        """ApiError 400 when a region is real: what its engine holds cannot be replaced."""
        if self._real:
            raise invalid(
                f"Region {self._real[0]} runs on a real engine: only where all engines are "
                "simulated (--engines simulated, and ROOST_OBJECTS_ENGINE=simulated) can the state "
                "be saved, loaded or reset"
            )
        return self._simulated

    async def latencies(self) -> list[LatencyRow]:
        return [
            {"region": region, "operation": name, "seconds": await engine.plan.latency(name)}
            for region, engine in self._simulated.items()
            for name in engine.operations
        ]

    async def set_latency(self, body: SetLatency) -> None:
        engines = self._simulated.values() if body.region is None else [self._of(body.region)]
        for engine in engines:
            for operation in engine.operations:
                if body.operation in (None, operation):
                    await engine.plan.set_latency(body.seconds, operation)

    async def faults(self) -> list[EngineFaultRow]:
        return [
            {"region": region, "operation": name, "reason": fault.reason, "times": fault.calls}
            for region, engine in self._simulated.items()
            for name, fault in (await engine.plan.faults()).items()
        ]

    async def plan_fault(self, body: PlanEngineFault) -> None:
        engine = self._of(body.region)
        if body.operation not in engine.operations:
            raise invalid("Must be an operation of this engine", "operation")
        await engine.plan.fail(body.operation, body.reason, body.times)

    async def drop_faults(self) -> None:
        for engine in self._simulated.values():
            for operation in engine.operations:
                await engine.plan.mend(operation)

    def _of(self, region: str) -> SimulatedEngine:
        engine = self._simulated.get(region)
        if engine is None:
            raise invalid("Must be a region with a simulated engine", "region")
        return engine


@asynccontextmanager
async def kept_on_failure(engines: Iterable[SimulatedEngine]) -> AsyncIterator[None]:
    """What the block makes of the engines is undone when it fails."""
    before = [(engine, await engine.snapshot()) for engine in engines]
    try:
        yield
    except BaseException:
        for engine, snapshot in before:
            await engine.restore(snapshot)
        raise


async def restore(engines: Mapping[str, SimulatedEngine], snapshots: Mapping[str, bytes]) -> None:
    """Regions without a snapshot become empty. ValueError when one is not a snapshot."""
    for region, engine in engines.items():
        if region in snapshots:
            await engine.restore(snapshots[region])
        else:
            await engine.reset()
