"""Disks and configs over HTTP, and what becomes of them."""

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute.engine import INSTANCE_PLANE
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made

_SETTLED = ("finished", "failed", "notification")


def path_of(instance: Json) -> str:
    return f"{INSTANCES}/{instance['id']}"


def engine_of(roost: Roost) -> SimulatedInstances:
    """Of the region in which the tests are."""
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    assert isinstance(engine, SimulatedInstances)
    return engine


async def roomy(client: Client, **changes: object) -> tuple[str, Json]:
    """The path of an instance with a small disk, a swap and room for more; and its disks."""
    path = path_of(await made(client, **changes))
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    await client.post(f"{path}/disks/{root['id']}/resize", {"size": 4000})
    await quiet(client, path)
    return path, (await client.get(f"{path}/disks"))["data"]


async def running(client: Client, **changes: object) -> str:
    """The path of an instance that runs."""
    path = path_of(await made(client, **changes))
    await powered(client, path, "boot")
    return path


async def powered(client: Client, path: str, action: str, body: Json = None) -> Json:
    """The instance after a boot, reboot or shutdown."""
    await client.post(f"{path}/{action}", body or {})
    await quiet(client, path)
    return await client.get(path)


async def events(client: Client, path: str) -> Json:
    """Of one instance, the newest first."""
    compute_id = int(path.rpartition("/")[2])
    wanted = {"entity.id": compute_id, "entity.type": "compute"}
    return (await client.get("/account/events", filter=wanted))["data"]


async def quiet(client: Client, path: str) -> Json:
    """The newest event of an instance, when all are over."""
    found = await until(
        lambda: events(client, path), lambda rows: all(r["status"] in _SETTLED for r in rows)
    )
    return found[0]
