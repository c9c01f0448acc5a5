"""What programs delete right after the instance that has it, without waiting for its end."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest

from roost.app.roost import Roost
from roost.jobs.kinds import Retry
from tests.support.client import Client, Json, until
from tests.support.drift import drift
from tests.support.instances import INSTANCES, made, settled
from tests.support.volumes import (
    VOLUMES,
    attached,
    failing,
    made_volume,
    paused,
    plugged,
    running_instance,
    volume_events,
    whole_events,
)

KEPT = [(None, "Volume must be detached before it can be deleted.")]

pytestmark = pytest.mark.spec("A volumes delete")


async def gone(client: Client, instance: Json) -> None:
    path = f"{INSTANCES}/{instance['id']}"
    await until(partial(client.send, "GET", path), lambda answer: answer.status == 404)


async def deleted(client: Client, volume_id: int) -> None:
    """When its event says so."""
    done = ("volume_delete", "finished")
    await until(partial(volume_events, client, volume_id), lambda rows: done in rows)


@pytest.mark.parametrize("runs", [True, False])
async def test_a_volume(client: Client, roost: Roost, runs: bool) -> None:
    instance = await (running_instance(client) if runs else made(client))
    volume = await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    path = f"{VOLUMES}/{volume['id']}"
    async with paused(roost, "delete"):
        answer = await client.send("DELETE", path)
        assert (answer.status, answer.problems) == (400, KEPT), "before its instance's deletion"
        await client.delete(f"{INSTANCES}/{instance['id']}")
        assert await client.delete(path) == {}
        assert (await client.send("GET", path)).status == 404
        assert (await client.send("DELETE", path)).status == 404
        again = await made_volume(client, label=volume["label"])
        assert (await client.get(f"{INSTANCES}/{instance['id']}"))["status"] == "deleting"
    await gone(client, instance)
    await deleted(client, volume["id"])
    assert (await client.get(f"{VOLUMES}/{again['id']}"))["status"] == "active"
    assert await drift(roost, f"instance {instance['id']}", f"volume {volume['id']}") == []


async def test_one_of_an_instance_that_stays_is_shown_again(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.1)
    instance, volume = await running_instance(client), await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    path = f"{VOLUMES}/{volume['id']}"
    async with AsyncExitStack() as faults:
        async with paused(roost, "delete"):
            await client.delete(f"{INSTANCES}/{instance['id']}")
            await client.delete(path)
            # Not before: what fails does so at once, and takes no time.
            await faults.enter_async_context(failing(roost, "delete", "no room"))
        await until(partial(volume_events, client, volume["id"]), _has_failed)
    row = await settled(client, instance["id"])
    assert row["status"] == "offline"
    shown = await client.get(path)
    assert (shown["compute_id"], shown["status"]) == (instance["id"], "active")
    [event] = [
        row for row in await whole_events(client, volume["id"]) if row["action"] == "volume_delete"
    ]
    assert (event["status"], event["message"]) == ("failed", "The volume was not detached.")
    await client.delete(f"{INSTANCES}/{instance['id']}")
    await client.delete(path)
    await gone(client, instance)
    assert await drift(roost, f"instance {instance['id']}", f"volume {volume['id']}") == []


def _has_failed(rows: list[tuple[str, str]]) -> bool:
    return ("volume_delete", "failed") in rows


async def test_both_at_the_same_moment(client: Client, roost: Roost) -> None:
    """In either order: it goes with the instance, or is refused and stays."""
    pairs = []
    for number in range(4):
        instance = await running_instance(client)
        volume = await made_volume(client, label=f"data-{number}")
        await attached(client, volume["id"], instance["id"])
        pairs.append((instance, volume))
    answers = await asyncio.gather(
        *(
            client.send("DELETE", path)
            for instance, volume in pairs
            for path in (f"{INSTANCES}/{instance['id']}", f"{VOLUMES}/{volume['id']}")
        )
    )
    for (instance, volume), of_instance, of_volume in zip(
        pairs, answers[::2], answers[1::2], strict=True
    ):
        assert of_instance.status == 200
        await gone(client, instance)
        path = f"{VOLUMES}/{volume['id']}"
        if of_volume.status == 200:
            assert (await client.send("GET", path)).status == 404
            await deleted(client, volume["id"])
        else:
            assert of_volume.problems == KEPT
            row = await client.get(path)
            assert (row["compute_id"], await plugged(roost, volume["id"])) == (None, None)
            assert await client.delete(path) == {}


async def test_what_else_there_is(client: Client, roost: Roost) -> None:
    """Its firewall, that firewall's device, and its name in reverse DNS."""
    instance = await running_instance(client)
    rules = {"inbound_policy": "DROP", "outbound_policy": "ACCEPT", "inbound": [], "outbound": []}
    body = {"label": "before-it", "rules": rules, "devices": {"computes": [instance["id"]]}}
    walls = "/networking/firewalls"
    wall = await client.post(walls, body)
    [device] = (await client.get(f"{walls}/{wall['id']}/devices"))["data"]
    async with paused(roost, "delete", "stop"):
        await client.delete(f"{INSTANCES}/{instance['id']}")
        await client.put(f"/networking/ips/{instance['ipv4'][0]}", {"rdns": None})
        await client.delete(f"{walls}/{wall['id']}/devices/{device['id']}")
        await client.delete(f"{walls}/{wall['id']}")
        assert (await client.get(f"{INSTANCES}/{instance['id']}"))["status"] == "deleting"
        assert await client.delete(f"{INSTANCES}/{instance['id']}") == {}
    await gone(client, instance)
    assert await drift(roost, f"instance {instance['id']}") == []
