"""What becomes of volumes when the data plane fails: a named state, and an event that says why."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.jobs.kinds import Retry
from roost.resources.compute.engine import INSTANCE_PLANE
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made
from tests.support.volumes import (
    VOLUMES,
    attached,
    failing,
    made_volume,
    paused,
    plugged,
    powered,
    rested,
    running_instance,
    volume_body,
    volume_engine,
    whole_events,
)

FULL = "The host has no room for the volume"


@pytest.fixture(autouse=True)
async def eager(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Jobs try again at once."""
    with monkeypatch.context() as patch:
        patch.setattr(Retry, "delay", lambda self, failures: 0.0)
        yield


async def failed_event(client: Client, volume_id: int, action: str) -> str:
    """The message of the newest event, which is the failure of this action."""
    events = await until(
        lambda: whole_events(client, volume_id),
        lambda found: found[0]["status"] not in ("scheduled", "started"),
    )
    assert (events[0]["action"], events[0]["status"]) == (action, "failed")
    return str(events[0]["message"])


async def test_create_leaves_nothing(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    for operation in ("volume_create", "volume_plug"):
        async with failing(roost, operation, FULL):
            row = await client.post(VOLUMES, volume_body(compute_id=instance["id"]))
            assert await failed_event(client, row["id"], "volume_create") == FULL
        assert (await client.send("GET", f"{VOLUMES}/{row['id']}")).status == 404
        assert await volume_engine(roost).inspect(row["id"]) is None
        assert (await client.get(f"{INSTANCES}/{instance['id']}/volumes"))["results"] == 0
    row = await made_volume(client, compute_id=instance["id"])
    assert await plugged(roost, row["id"]) == instance["id"]


async def test_clone_leaves_nothing(client: Client, roost: Roost) -> None:
    source = await made_volume(client)
    async with failing(roost, "volume_copy", FULL):
        copy = await client.post(f"{VOLUMES}/{source['id']}/clone", {"label": "copy"})
        assert await failed_event(client, source["id"], "volume_clone") == FULL
    assert (await client.send("GET", f"{VOLUMES}/{copy['id']}")).status == 404
    assert await volume_engine(roost).inspect(copy["id"]) is None
    assert await client.get(f"{VOLUMES}/{source['id']}") == source


async def test_attach_leaves_it_free(client: Client, roost: Roost) -> None:
    instance, volume = await running_instance(client), await made_volume(client)
    async with failing(roost, "volume_plug", "The guest does not answer"):
        await client.post(f"{VOLUMES}/{volume['id']}/attach", {"compute_id": instance["id"]})
        message = await failed_event(client, volume["id"], "volume_attach")
        assert message == "The guest does not answer"
    row = await client.get(f"{VOLUMES}/{volume['id']}")
    assert (row["status"], row["compute_id"]) == ("active", None)
    assert await plugged(roost, volume["id"]) is None
    await attached(client, volume["id"], instance["id"])
    assert await plugged(roost, volume["id"]) == instance["id"]


async def test_detach_of_what_is_mounted(client: Client, roost: Roost) -> None:
    instance, volume = await running_instance(client), await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    engine = volume_engine(roost)
    await engine.mount(volume["id"])
    path = f"{VOLUMES}/{volume['id']}"
    await client.post(f"{path}/detach")
    assert "unmount it" in await failed_event(client, volume["id"], "volume_detach")
    row = await client.get(path)
    assert (row["status"], row["compute_id"]) == ("active", instance["id"])
    assert await plugged(roost, volume["id"]) == instance["id"]
    await engine.mount(volume["id"], False)
    await client.post(f"{path}/detach")
    assert (await rested(client, volume["id"]))["compute_id"] is None


async def test_resize_keeps_the_size(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    async with failing(roost, "volume_resize", FULL):
        await client.post(f"{path}/resize", {"size": 40})
        assert await failed_event(client, volume["id"], "volume_resize") == FULL
    row = await client.get(path)
    assert (row["status"], row["size"]) == ("active", 20)


async def test_delete_brings_it_back(client: Client, roost: Roost) -> None:
    """Under its label, or with its id behind that when somebody else has it by now."""
    path = f"{VOLUMES}/%s"
    for label, again in (("data", False), ("x" * 32, True), ("a-" * 12, True)):
        volume = await made_volume(client, label=label, tags=["blue"])
        async with AsyncExitStack() as faults:
            async with paused(roost, "volume_delete"):
                await client.delete(path % volume["id"])
                assert not again or await made_volume(client, label=label)
                fault = failing(roost, "volume_delete", "The disk cannot be read")
                await faults.enter_async_context(fault)
            message = await failed_event(client, volume["id"], "volume_delete")
            assert message == "The disk cannot be read"
        row = await client.get(path % volume["id"])
        assert (row["status"], row["tags"], row["size"]) == ("active", ["blue"], 20)
        assert (row["label"] == label) != again
        assert len(row["label"]) <= 32
        await client.put(path % volume["id"], row)
        await client.delete(path % volume["id"])


async def test_what_was_given_up_does_not_pass_for_a_volume(client: Client, roost: Roost) -> None:
    """Half a volume that cannot be removed is not `active`; its owner tries again."""
    async with paused(roost, "volume_create") as engine:
        volume = await client.post(VOLUMES, volume_body())
        path = f"{VOLUMES}/{volume['id']}"
        await until(lambda: engine.inspect(volume["id"]), lambda state: state is not None)
        async with failing(roost, "volume_delete", "The disk cannot be read"):
            await client.delete(path)
            await failed_event(client, volume["id"], "volume_delete")
    assert (await client.get(path))["status"] == "creating"
    await client.delete(path)
    await until(lambda: engine.inspect(volume["id"]), lambda state: state is None)


async def test_data_that_vanished(client: Client, roost: Roost) -> None:
    """The instance says why it does not boot; the volume can be detached and deleted."""
    instance, volume = await made(client), await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    await volume_engine(roost).lose(volume["id"])
    row = await powered(client, instance["id"], "boot")
    assert row["status"] == "offline"
    event: Json = (await client.get("/account/events", filter={"entity.id": instance["id"]}))[
        "data"
    ][0]
    assert (event["action"], event["status"]) == ("compute_boot", "failed")
    assert event["message"]
    path = f"{VOLUMES}/{volume['id']}"
    await client.post(f"{path}/resize", {"size": 40})
    assert str(volume["id"]) in await failed_event(client, volume["id"], "volume_resize")
    assert (await client.get(path))["status"] == "active"
    await client.post(f"{path}/detach")
    assert (await rested(client, volume["id"]))["compute_id"] is None
    assert await client.delete(path) == {}
    assert (await powered(client, instance["id"], "boot"))["status"] == "running"


async def test_the_guest_dies(client: Client, roost: Roost) -> None:
    """A volume can be taken from one that is dead, and given to another one."""
    first, second = await running_instance(client), await running_instance(client)
    volume = await made_volume(client)
    await attached(client, volume["id"], first["id"])
    await volume_engine(roost).mount(volume["id"])
    await client.put(f"{INSTANCES}/{first['id']}", {"watchdog_enabled": False})
    await guests(roost).crash(first["id"])
    await client.post(f"{VOLUMES}/{volume['id']}/detach")
    assert (await rested(client, volume["id"]))["compute_id"] is None
    await attached(client, volume["id"], second["id"])
    assert await plugged(roost, volume["id"]) == second["id"]


def guests(roost: Roost) -> SimulatedInstances:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    assert isinstance(engine, SimulatedInstances)
    return engine
