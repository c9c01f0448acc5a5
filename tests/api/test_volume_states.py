"""What volumes refuse for the state that they, or their instances, are in (spec A, Volumes)."""

import asyncio

import pytest

from roost.app.roost import Roost
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made
from tests.support.volumes import (
    VOLUMES,
    attached,
    detached,
    hurry,
    made_volume,
    paused,
    plugged,
    rested,
    running_instance,
    volume_body,
    volume_events,
    whole_events,
)

UP = [(None, "Storage volumes can only be resized up")]


async def refusal(client: Client, volume: Json, action: str, body: Json = None) -> Json:
    answer = await client.send("POST", f"{VOLUMES}/{volume['id']}/{action}", body)
    assert answer.status == 400
    return answer.problems


@pytest.mark.spec("A volumes 1")
async def test_only_in_the_same_region(client: Client) -> None:
    instance, volume = await made(client), await made_volume(client, region="br-south")
    reason = [(None, "Volume and Compute must be in the same region.")]
    assert await refusal(client, volume, "attach", {"compute_id": instance["id"]}) == reason
    body = volume_body(label="new", region="br-south", compute_id=instance["id"])
    assert (await client.send("POST", VOLUMES, body)).problems == reason


@pytest.mark.spec("A volumes 2")
async def test_only_larger(client: Client) -> None:
    volume = await made_volume(client, size=40)
    for size in (39, 40, 0, -1):
        assert await refusal(client, volume, "resize", {"size": size}) == UP
    most = [(None, "Storage volumes cannot be resized larger than 10240 gigabytes")]
    for size in (10241, 2**62):
        assert await refusal(client, volume, "resize", {"size": size}) == most
    assert await client.get(f"{VOLUMES}/{volume['id']}") == volume


@pytest.mark.spec("A volumes attach", "A volumes detach")
async def test_attached_once(client: Client) -> None:
    first, second = await made(client), await made(client)
    volume = await made_volume(client)
    assert await refusal(client, volume, "detach") == [(None, "Volume is not attached.")]
    await attached(client, volume["id"], first["id"])
    taken = f"Volume {volume['id']} is already attached to Compute {first['id']}."
    for instance in (first, second):
        answer = await refusal(client, volume, "attach", {"compute_id": instance["id"]})
        assert answer == [(None, taken)]


@pytest.mark.spec("A volumes attach")
async def test_only_a_running_one_takes_it_for_one_boot(client: Client) -> None:
    instance, volume = await made(client), await made_volume(client)
    body = {"compute_id": instance["id"], "persist_across_boots": False}
    reason = [(None, "Compute is not running.")]
    assert await refusal(client, volume, "attach", body) == reason


@pytest.mark.spec("A volumes delete")
@pytest.mark.parametrize("runs", [True, False])
async def test_not_deleted_while_an_instance_has_it(client: Client, runs: bool) -> None:
    instance = await (running_instance(client) if runs else made(client))
    volume = await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    path = f"{VOLUMES}/{volume['id']}"
    answer = await client.send("DELETE", path)
    reason = "Volume must be detached before it can be deleted."
    assert (answer.status, answer.problems) == (400, [(None, reason)])
    assert (await client.get(path))["compute_id"] == instance["id"]
    await detached(client, volume["id"])
    assert await client.delete(path) == {}


@pytest.mark.spec(
    "A volumes create",
    "A volumes attach",
    "A volumes create config",
    "A volumes create no config",
    "A volumes attach config",
)
async def test_which_config(client: Client, roost: Roost) -> None:
    """The only one, else the last booted, else the caller has to say."""
    bare = await client.post(INSTANCES, {"type": "g1-nano-1", "region": "us-lake"})
    await until(
        lambda: client.get(f"{INSTANCES}/{bare['id']}"), lambda row: row["status"] == "offline"
    )
    volume, instance, other = await made_volume(client), await made(client), await made(client)
    (own,) = await configs(roost, instance["id"])
    (foreign,) = await configs(roost, other["id"])

    def to(compute_id: int, **more: object) -> Json:
        return {"compute_id": compute_id, **more}

    (problem,) = await refusal(client, volume, "attach", to(bare["id"]))
    assert problem[0] == "config_id"
    body = volume_body(label="new", compute_id=bare["id"])
    (problem,) = (await client.send("POST", VOLUMES, body)).problems
    assert problem[0] == "config_id"
    wrong = [("config_id", "config_id is not valid")]
    for config_id in (foreign, 999_999_999):
        answer = await refusal(client, volume, "attach", to(instance["id"], config_id=config_id))
        assert answer == wrong
    body = volume_body(label="new", compute_id=instance["id"], config_id=foreign)
    assert (await client.send("POST", VOLUMES, body)).problems == wrong
    await attached(client, volume["id"], instance["id"], config_id=own)
    assert await slots(roost, volume["id"]) == [(own, "sdc")]
    await detached(client, volume["id"])
    assert await slots(roost, volume["id"]) == []

    second = await another_config(roost, instance["id"])
    await roost.store.execute(
        "update compute_instance set config_id = null where id = $1", instance["id"]
    )
    (problem,) = await refusal(client, volume, "attach", to(instance["id"]))
    assert problem[0] == "config_id"
    await roost.store.execute(
        "update compute_instance set config_id = $2 where id = $1", instance["id"], second
    )
    await attached(client, volume["id"], instance["id"])
    assert await slots(roost, volume["id"]) == [(second, "sda")]


@pytest.mark.spec("A volumes attach")
async def test_a_config_that_does_not_run(client: Client, roost: Roost) -> None:
    """The guest goes on without the volume until it is booted with that config."""
    instance, volume = await running_instance(client), await made_volume(client)
    other = await another_config(roost, instance["id"])
    row = await attached(client, volume["id"], instance["id"], config_id=other)
    assert row["compute_id"] == instance["id"]
    assert await plugged(roost, volume["id"]) is None


async def test_no_slot_is_left(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    (config,) = await configs(roost, instance["id"])
    made = [await made_volume(client, label=f"v{n}", compute_id=instance["id"]) for n in range(6)]
    used = [slot for volume in made for _, slot in await slots(roost, volume["id"])]
    assert used == ["sdc", "sdd", "sde", "sdf", "sdg", "sdh"]
    body = volume_body(label="more", compute_id=instance["id"], config_id=config)
    reason = [("config_id", "The config has no free device slot")]
    assert (await client.send("POST", VOLUMES, body)).problems == reason
    await detached(client, made[2]["id"])
    volume = await made_volume(client, label="more", compute_id=instance["id"])
    assert await slots(roost, volume["id"]) == [(config, "sde")]


@pytest.mark.spec("A limits volumes per instance")
async def test_one_for_each_gigabyte(client: Client) -> None:
    instance = await running_instance(client, type="g1-standard-1")
    for label in ("one", "two"):
        await made_volume(client, label=label, compute_id=instance["id"])
    reason = [(None, "Compute cannot have more than 2 volumes with its memory.")]
    third = await made_volume(client, label="three")
    for persists in (True, False):
        body = {"compute_id": instance["id"], "persist_across_boots": persists}
        assert await refusal(client, third, "attach", body) == reason
    body = volume_body(label="four", compute_id=instance["id"])
    assert (await client.send("POST", VOLUMES, body)).problems == reason


@pytest.mark.spec("A limits volumes per instance", "A limits volumes persistent")
async def test_more_than_eight_of_16_gigabytes(client: Client, roost: Roost) -> None:
    instance = await running_instance(client, type="g1-standard-6")
    labels = [f"v{number}" for number in range(17)]
    volumes = await asyncio.gather(*(made_volume(client, label=label) for label in labels))
    for volume in volumes[:16]:
        await attached(client, volume["id"], instance["id"], persist_across_boots=False)
    path = f"{INSTANCES}/{instance['id']}/volumes"
    assert (await client.get(path))["results"] == 16
    body = {"compute_id": instance["id"], "persist_across_boots": False}
    reason = [(None, "Compute cannot have more than 16 volumes with its memory.")]
    assert await refusal(client, volumes[16], "attach", body) == reason


@pytest.mark.spec("A volumes delete", "A volume status")
async def test_delete_what_is_resizing(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    async with paused(roost, "volume_resize") as engine:
        row = await client.post(f"{path}/resize", {"size": 30})
        assert (row["status"], row["size"]) == ("resizing", 30)
        assert (await client.put(path, {"label": "renamed"}))["status"] == "resizing"
        assert await client.delete(path) == {}
        assert (await client.send("GET", path)).status == 404
        await until(lambda: engine.inspect(volume["id"]), lambda state: state is None)
    events = await whole_events(client, volume["id"])
    assert [event["action"] for event in events if event["status"] == "failed"] == ["volume_resize"]


@pytest.mark.spec("A volume status", "A volumes clone")
async def test_a_copy_can_be_given_up(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    async with paused(roost, "volume_copy") as engine:
        copy = await client.post(f"{path}/clone", {"label": "copy"})
        assert await client.delete(f"{VOLUMES}/{copy['id']}") == {}
        await until(lambda: engine.inspect(copy["id"]), lambda state: state is None)
    event = (await whole_events(client, volume["id"]))[0]
    assert (event["action"], event["status"]) == ("volume_clone", "failed")
    assert event["message"] == "The volume was deleted."


async def test_rate_and_remaining_time_of_a_copy(client: Client, roost: Roost) -> None:
    source = await made_volume(client, label="source", size=10)
    async with paused(roost, "volume_copy"):
        copy = await client.post(f"{VOLUMES}/{source['id']}/clone", {"label": "copy"})

        async def hurried() -> Json:
            await hurry(roost)
            return await newest(client, "volume_clone")

        copying = await until(hurried, lambda event: event["percent_complete"] >= 10)
        hours, minutes, _ = map(int, copying["time_remaining"].split(":"))
        # A tenth was copied in 3 s, and in those that a busy machine needs to begin.
        assert (hours, minutes < 10) == (0, True)
        assert float(copying["rate"].removesuffix(" MB/s")) > 10 * 1024 / 800
    done = await until(
        lambda: newest(client, "volume_clone"), lambda event: event["status"] == "finished"
    )
    await rested(client, copy["id"])
    assert done["time_remaining"] is None
    rate = float(done["rate"].removesuffix(" MB/s"))
    assert abs(rate - 10 * 1024 / done["duration"]) < 0.01 * rate
    made = await newest(client, "volume_create")
    assert (made["rate"], made["time_remaining"]) == (None, None)


async def newest(client: Client, action: str) -> Json:
    return (await client.get("/account/events", filter={"action": action}))["data"][0]


async def test_progress_of_a_copy(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    async with paused(roost, "volume_copy"):
        await client.post(f"{VOLUMES}/{volume['id']}/clone", {"label": "copy"})

        async def percent() -> int:
            await hurry(roost)
            return int((await whole_events(client, volume["id"]))[0]["percent_complete"])

        assert await until(percent, lambda shown: 0 < shown < 100)
    assert await until(percent, lambda shown: shown == 100)


@pytest.mark.spec("A volumes delete")
async def test_delete_what_is_being_made(client: Client, roost: Roost) -> None:
    async with paused(roost, "volume_create") as engine:
        volume = await client.post(VOLUMES, volume_body())
        await until(lambda: engine.inspect(volume["id"]), lambda state: state is not None)
        assert await client.delete(f"{VOLUMES}/{volume['id']}") == {}
        assert await client.post(VOLUMES, volume_body())
        await until(
            lambda: volume_events(client, volume["id"]),
            lambda events: events[0] == ("volume_delete", "finished"),
        )
        assert await engine.inspect(volume["id"]) is None
    assert (await volume_events(client, volume["id"]))[1] == ("volume_create", "failed")


async def configs(roost: Roost, compute_id: int) -> list[int]:
    rows = await roost.store.fetch(
        "select id from compute_config where compute_id = $1 order by id", compute_id
    )
    return [row["id"] for row in rows]


async def another_config(roost: Roost, compute_id: int) -> int:
    """An empty one."""
    config_id: int = await roost.store.fetchval(
        """
        insert into compute_config (compute_id, label, kernel, helpers, created, updated)
        values ($1, 'other', 'roost/latest-64bit', '{}', now(), now()) returning id
        """,
        compute_id,
    )
    return config_id


async def slots(roost: Roost, volume_id: int) -> list[tuple[int, str]]:
    rows = await roost.store.fetch(
        "select config_id, slot from compute_config_device where volume_id = $1", volume_id
    )
    return [(row["config_id"], row["slot"]) for row in rows]


@pytest.mark.spec("A volumes clone status", "A volumes resize status", "A errors 5 status")
@pytest.mark.parametrize("status", ["creating", "resizing"])
async def test_only_an_active_one_is_cloned_and_resized(
    client: Client, roost: Roost, status: str
) -> None:
    """While no job is going to make it active."""
    volume = await made_volume(client)
    set_status = "update volume set status = $2 where id = $1"
    await roost.store.execute(set_status, volume["id"], status)
    for action, body in (("clone", {"label": "copy"}), ("resize", {"size": 40})):
        assert await refusal(client, volume, action, body) == [(None, "Volume is not active.")]
    assert (await client.get(VOLUMES))["results"] == 1
    await roost.store.execute(set_status, volume["id"], "active")
    row = await client.post(f"{VOLUMES}/{volume['id']}/resize", {"size": 40})
    assert row["size"] == 40
    await rested(client, volume["id"])
