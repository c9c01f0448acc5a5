"""Volumes over HTTP, and what becomes of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.faults import FaultPlan
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.plane import Operation
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.jobs.queries import READY
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, OMITTED, settled

VOLUMES = "/volumes"
_VALID = {"label": "data", "region": "us-lake"}
_OPEN = ("scheduled", "started")
_PAUSE = 30
"""Seconds, longer than all the requests of a scene take together."""


def volume_engine(roost: Roost, region: str = "us-lake") -> SimulatedVolumes:
    engine = roost.services.get(Engines).of(VOLUME_PLANE, region)
    assert isinstance(engine, SimulatedVolumes)
    return engine


def fault_plan(roost: Roost, region: str = "us-lake") -> FaultPlan:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, region)
    assert isinstance(engine, SimulatedInstances)
    return engine.plan


@asynccontextmanager
async def slow(
    roost: Roost, *operations: Operation, seconds: float, region: str = "us-lake"
) -> AsyncIterator[SimulatedVolumes]:
    """While the block runs, these operations of the engine take a while."""
    plan = fault_plan(roost, region)
    for operation in operations:
        await plan.set_latency(seconds, operation)
    try:
        yield volume_engine(roost, region)
    finally:
        for operation in operations:
            await plan.set_latency(0, operation)


@asynccontextmanager
async def paused(
    roost: Roost, *operations: Operation, region: str = "us-lake"
) -> AsyncIterator[SimulatedVolumes]:
    """While the block runs, these operations do not end, however slow the machine is; jobs go on
    when it ends."""
    async with slow(roost, *operations, seconds=_PAUSE, region=region) as engine:
        yield engine
    await hurry(roost)


async def hurry(roost: Roost) -> None:
    """Jobs that wait look again at once."""
    await roost.store.execute("update job set run_at = '-infinity' where status = 'waiting'")
    await roost.store.notify(READY)


@asynccontextmanager
async def failing(roost: Roost, operation: Operation, reason: str) -> AsyncIterator[None]:
    """While the block runs, each call of the operation fails."""
    plan = fault_plan(roost)
    await plan.fail(operation, reason)
    try:
        yield
    finally:
        await plan.mend(operation)


async def plugged(roost: Roost, volume_id: int, region: str = "us-lake") -> int | None:
    """The guest that has the volume."""
    state = await volume_engine(roost, region).inspect(volume_id)
    assert state is not None
    return state.compute_id


def volume_body(**changes: object) -> Json:
    """A body that is accepted, with some fields set or OMITTED."""
    body = {**_VALID, **changes}
    return {field: value for field, value in body.items() if value is not OMITTED}


async def made_volume(client: Client, **changes: object) -> Json:
    """A new volume, when it rests."""
    row = await client.post(VOLUMES, volume_body(**changes))
    return await rested(client, row["id"])


async def rested(client: Client, volume_id: int) -> Json:
    """The volume when no job works on it."""
    await until(
        lambda: volume_events(client, volume_id),
        lambda events: not any(status in _OPEN for _, status in events),
    )
    return await client.get(f"{VOLUMES}/{volume_id}")


async def volume_events(client: Client, volume_id: int) -> list[tuple[str, str]]:
    """Actions and status, the newest first."""
    return [(event["action"], event["status"]) for event in await whole_events(client, volume_id)]


async def whole_events(client: Client, volume_id: int) -> list[Json]:
    wanted = {"entity.id": volume_id, "entity.type": "volume"}
    events: list[Json] = (await client.get("/account/events?page_size=500", filter=wanted))["data"]
    return events


async def running_instance(client: Client, **changes: object) -> Json:
    """An instance that runs."""
    body = {
        "type": "g1-standard-4",
        "region": "us-lake",
        "image": "roost/debian12",
        "root_pass": "correct-Horse7battery",
        **changes,
    }
    row = await client.post(INSTANCES, body)
    return await until(
        lambda: client.get(f"{INSTANCES}/{row['id']}"), lambda found: found["status"] == "running"
    )


async def powered(client: Client, compute_id: int, action: str) -> Json:
    """The instance after it was booted, rebooted or shut down."""
    await client.post(f"{INSTANCES}/{compute_id}/{action}")
    return await settled(client, compute_id)


async def attached(client: Client, volume_id: int, compute_id: int, **more: object) -> Json:
    """The volume when its instance has it."""
    await client.post(f"{VOLUMES}/{volume_id}/attach", {"compute_id": compute_id, **more})
    return await rested(client, volume_id)


async def detached(client: Client, volume_id: int) -> Json:
    assert await client.post(f"{VOLUMES}/{volume_id}/detach") == {}
    return await rested(client, volume_id)
