"""Rebuild, rescue, resize, upgrade and password: what becomes of an instance."""

import pytest

from roost.app.roost import Roost
from roost.resources.compute.disks.records import SealedSetup
from roost.secrets import Box
from tests.support.client import Client, Json, until
from tests.support.disks import engine_of, events, path_of, powered, quiet, roomy, running
from tests.support.instances import PASSWORD, made
from tests.support.volumes import attached, failing, made_volume, paused, plugged

IMAGE: Json = {"image": "roost/debian12", "root_pass": PASSWORD}
GIB = 1024


async def disks_of(client: Client, path: str) -> list[tuple[str, int, str]]:
    rows = (await client.get(f"{path}/disks"))["data"]
    return [(row["filesystem"], row["size"], row["status"]) for row in rows]


async def told(client: Client, path: str) -> list[tuple[str, str]]:
    """Actions and status, the oldest first."""
    return [(row["action"], row["status"]) for row in reversed(await events(client, path))]


async def setup_of(roost: Roost, path: str) -> SealedSetup:
    sealed = await roost.store.fetchval(
        "select setup from compute_disk where compute_id = $1 order by id limit 1",
        int(path.rpartition("/")[2]),
    )
    return SealedSetup.unseal(roost.services.get(Box), sealed)


async def test_rebuild(client: Client, roost: Roost) -> None:
    """What there was is gone, save for volumes, which only lose their slots."""
    path = await running(client)
    compute_id = int(path.rpartition("/")[2])
    volume = await made_volume(client)
    await attached(client, volume["id"], compute_id)
    old = (await client.get(f"{path}/disks"))["data"]
    [config] = (await client.get(f"{path}/configs"))["data"]
    async with paused(roost, "disk_make"):
        row = await client.post(f"{path}/rebuild", IMAGE)
        assert (row["status"], row["image"]) == ("rebuilding", "roost/debian12")
        answer = await client.send("POST", f"{path}/rescue", {})
        assert answer.problems == [(None, "Compute busy.")]
    await quiet(client, path)
    assert (await client.get(path))["status"] == "running"
    assert await disks_of(client, path) == [("ext4", 25088, "ready"), ("swap", 512, "ready")]
    new = (await client.get(f"{path}/disks"))["data"]
    assert not {disk["id"] for disk in old} & {disk["id"] for disk in new}
    state = await engine_of(roost).inspect(compute_id)
    assert state is not None
    assert [disk.id for disk in state.disks] == [disk["id"] for disk in new]
    [made_config] = (await client.get(f"{path}/configs"))["data"]
    assert made_config["id"] != config["id"]
    assert made_config["devices"]["sda"]["disk_id"] == new[0]["id"]
    assert made_config["devices"]["sdc"] is None
    assert (await client.get(f"/volumes/{volume['id']}"))["compute_id"] == compute_id
    assert await plugged(roost, volume["id"]) == compute_id
    assert (await told(client, path))[-2:] == [
        ("compute_rebuild", "finished"),
        ("compute_boot", "finished"),
    ]


async def test_rebuild_with_another_plan(client: Client) -> None:
    path = path_of(await made(client))
    await client.post(f"{path}/rebuild", {**IMAGE, "type": "g1-standard-2", "booted": False})
    await quiet(client, path)
    row = await client.get(path)
    assert (row["status"], row["type"]) == ("offline", "g1-standard-2")
    assert row["specs"] == {
        "disk": 81920,
        "memory": 4096,
        "vcpus": 2,
        "gpus": 0,
        "transfer": 4000,
    }
    assert row["alerts"]["cpu"] == 180
    assert await disks_of(client, path) == [("ext4", 81408, "ready"), ("swap", 512, "ready")]


@pytest.mark.parametrize(
    ("metadata", "has"),
    [
        (None, True),
        ({}, True),
        ({"user_data": None}, False),
        ({"user_data": ""}, False),
        ({"user_data": "eQ=="}, True),
    ],
)
async def test_rebuild_keeps_or_replaces_user_data(
    client: Client, metadata: Json, has: bool
) -> None:
    """What is omitted stays."""
    path = path_of(await made(client, metadata={"user_data": "eA=="}))
    row = await client.post(f"{path}/rebuild", {**IMAGE, "booted": False, "metadata": metadata})
    assert row["has_user_data"] is has


@pytest.mark.usefixtures("quick_retries")
async def test_a_rebuild_that_fails_first(client: Client, roost: Roost) -> None:
    """The instance is what it was, and off."""
    path = await running(client, metadata={"user_data": "eA=="})
    before, old = await client.get(path), (await client.get(f"{path}/disks"))["data"]
    body = {**IMAGE, "type": "g1-standard-1", "metadata": {"user_data": None}}
    async with failing(roost, "disk_delete", "The host's disk has failed"):
        await client.post(f"{path}/rebuild", body)
        event = await quiet(client, path)
    assert (event["status"], event["message"]) == ("failed", "The host's disk has failed")
    after = await client.get(path)
    assert after == {**before, "status": "offline", "updated": after["updated"]}
    now = (await client.get(f"{path}/disks"))["data"]
    assert [(d["id"], d["status"]) for d in now] == [(d["id"], "ready") for d in old]
    assert (await powered(client, path, "boot"))["status"] == "running"


@pytest.mark.usefixtures("quick_retries")
async def test_a_rebuild_that_fails_last(client: Client, roost: Roost) -> None:
    """The next boot makes the new disks."""
    path = await running(client)
    async with failing(roost, "disk_make", "The host has no room"):
        await client.post(f"{path}/rebuild", IMAGE)
        event = await quiet(client, path)
    assert (event["status"], event["message"]) == ("failed", "The host has no room")
    assert (await client.get(path))["status"] == "offline"
    statuses = [("ext4", 25088, "not ready"), ("swap", 512, "not ready")]
    assert await disks_of(client, path) == statuses
    assert (await powered(client, path, "boot"))["status"] == "running"
    assert await disks_of(client, path) == [("ext4", 25088, "ready"), ("swap", 512, "ready")]


async def test_rescue(client: Client, roost: Roost) -> None:
    """Volumes are there too; the next reboot leaves it."""
    path = await running(client)
    compute_id = int(path.rpartition("/")[2])
    volume = await made_volume(client)
    await attached(client, volume["id"], compute_id)
    _, swap = (await client.get(f"{path}/disks"))["data"]
    devices = {"sda": {"disk_id": swap["id"]}, "sdc": {"volume_id": volume["id"]}}
    await client.post(f"{path}/rescue", {"devices": devices})
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("compute_reboot", "finished")
    assert event["message"] == "The instance boots in rescue mode."
    assert (await client.get(path))["status"] == "running"
    console = (await engine_of(roost).console(compute_id, 4000)).decode()
    assert "Virtio SCSI HBA: sda sdc\n" in console
    assert console.endswith("rescue login: ")
    assert await plugged(roost, volume["id"]) == compute_id
    [config] = (await client.get(f"{path}/configs"))["data"]
    assert not any(interface["active"] for interface in config["interfaces"])
    assert (await powered(client, path, "reboot"))["status"] == "running"
    console = (await engine_of(roost).console(compute_id, 4000)).decode()
    assert not console.endswith("rescue login: ")


async def test_rescue_of_what_is_off(client: Client, roost: Roost) -> None:
    """Without devices all disks are there."""
    instance = await made(client)
    path = path_of(instance)
    await client.post(f"{path}/rescue", {})
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("compute_boot", "finished")
    console = await engine_of(roost).console(instance["id"], 4000)
    assert b"sda sdb" in console
    assert console.endswith(b"rescue login: ")


async def test_resize_up(client: Client, roost: Roost) -> None:
    """The only disk with a file system grows, and the alert that nobody changed."""
    path = await running(client)
    async with paused(roost, "disk_resize"):
        await client.post(f"{path}/resize", {"type": "g1-standard-2"})
        assert (await client.get(path))["status"] == "resizing"
    await quiet(client, path)
    row = await client.get(path)
    assert (row["status"], row["type"], row["specs"]["memory"]) == (
        "running",
        "g1-standard-2",
        4096,
    )
    assert row["alerts"]["cpu"] == 180
    assert await disks_of(client, path) == [("ext4", 81408, "ready"), ("swap", 512, "ready")]
    state = await engine_of(roost).inspect(row["id"])
    assert state is not None
    assert (state.memory, state.vcpus, state.disks[0].size) == (4096, 2, 81408)
    assert (await told(client, path))[-3:] == [
        ("compute_resize_create", "notification"),
        ("compute_resize", "finished"),
        ("compute_boot", "finished"),
    ]


async def test_what_is_seen_of_a_resize(client: Client, roost: Roost) -> None:
    path, seen = await running(client), list[str]()

    async def look() -> str:
        status: str = (await client.get(path))["status"]
        if seen[-1:] != [status]:
            seen.append(status)
        return status

    body = {"type": "g1-standard-2", "migration_type": "warm"}
    async with paused(roost, "start"):
        async with paused(roost, "disk_resize"):
            await client.post(f"{path}/resize", body)
            await look()
        await until(look, lambda status: status == "offline")
    await until(look, lambda status: status == "running")
    assert seen == ["resizing", "offline", "running"]
    assert ("compute_resize_warm_create", "notification") in await told(client, path)


async def test_resize_without_growing(client: Client) -> None:
    path = path_of(await made(client))
    await client.put(path, {"alerts": {"cpu": 42}})
    body = {"type": "g1-standard-2", "allow_auto_disk_resize": False}
    await client.post(f"{path}/resize", body)
    await quiet(client, path)
    row = await client.get(path)
    assert (row["status"], row["specs"]["disk"], row["alerts"]["cpu"]) == ("offline", 81920, 42)
    assert (await disks_of(client, path))[0][1] == 25088


async def test_resize_down(client: Client) -> None:
    path, _ = await roomy(client)
    await client.post(f"{path}/resize", {"type": "g1-micro-1"})
    await quiet(client, path)
    assert (await client.get(path))["specs"]["disk"] == 5120
    # There was room in the smaller plan, which the disk takes.
    assert await disks_of(client, path) == [("ext4", 4608, "ready"), ("swap", 512, "ready")]


async def test_resizes_that_are_refused(client: Client, roost: Roost) -> None:
    path = path_of(await made(client, type="g1-standard-2"))
    for plan, reason in (
        ("g1-standard-2", "Compute is already running this service plan."),
        (
            "g1-nano-1",
            "Compute has allocated more disk than the new service plan allows. "
            "Delete or resize disks smaller.",
        ),
    ):
        answer = await client.send("POST", f"{path}/resize", {"type": plan})
        assert (answer.status, answer.problems) == (400, [(None, reason)])
    row = await client.get(path)
    assert (row["status"], row["type"]) == ("offline", "g1-standard-2")


async def test_volumes_need_memory(client: Client) -> None:
    path, _ = await roomy(client, type="g1-standard-1")
    compute_id = int(path.rpartition("/")[2])
    for label in ("one", "two"):
        volume = await made_volume(client, label=label)
        await attached(client, volume["id"], compute_id)
    answer = await client.send("POST", f"{path}/resize", {"type": "g1-nano-1"})
    reason = "Compute has 2 volumes, but the new service plan allows 1. Detach some first."
    assert (answer.status, answer.problems) == (400, [(None, reason)])


@pytest.mark.usefixtures("quick_retries")
async def test_a_resize_that_fails(client: Client, roost: Roost) -> None:
    """The instance runs again with its former plan."""
    path = await running(client)
    before = await client.get(path)
    async with failing(roost, "disk_resize", "The host has no room"):
        await client.post(f"{path}/resize", {"type": "g1-standard-1"})
        event = await quiet(client, path)
    assert (event["status"], event["message"]) == ("failed", "The host has no room")
    after = await client.get(path)
    assert after == {**before, "updated": after["updated"]}
    state = await engine_of(roost).inspect(after["id"])
    assert state is not None
    assert state.power == "running"


async def test_a_plan_that_has_run_out(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(await made(client))
    monkeypatch.setattr(roost.catalog, "offers", lambda _region, _plan: False)
    for action, body in (
        ("resize", {"type": "g1-standard-1"}),
        ("rebuild", {**IMAGE, "type": "g1-standard-1"}),
    ):
        answer = await client.send("POST", f"{path}/{action}", body)
        assert answer.problems == [("type", "The region has no capacity for this plan type")]


async def test_upgrade(client: Client, roost: Roost) -> None:
    [plan] = [plan for plan in roost.catalog.entries.compute_types if plan.successor]
    path = path_of(await made(client, type=plan.id))
    await client.post(f"{path}/mutate", {})
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("compute_mutate", "finished")
    assert (await client.get(path))["type"] == plan.successor
    answer = await client.send("POST", f"{path}/mutate", {})
    reason = "There is no upgrade for the service plan of this Compute."
    assert answer.problems == [(None, reason)]


async def test_password(client: Client, roost: Roost) -> None:
    path = await running(client)
    answer = await client.send("POST", f"{path}/password", {"root_pass": "x7-Tangerine"})
    reason = "Compute must be shut down before its root password is reset."
    assert answer.problems == [(None, reason)]
    await powered(client, path, "shutdown")
    former = (await setup_of(roost, path)).root_password_hash
    assert await client.post(f"{path}/password", {"root_pass": "x7-Tangerine"}) == {}
    event = (await events(client, path))[0]
    assert (event["action"], event["status"]) == ("password_reset", "notification")
    assert event["secondary_entity"]["type"] == "disk"
    setup = await setup_of(roost, path)
    assert setup.root_pass is None
    assert setup.root_password_hash not in (None, former)


async def test_a_password_needs_one_disk(client: Client) -> None:
    path, _ = await roomy(client)
    reason = "Compute must have exactly one disk that is not swap; reset the password on a disk."
    await client.post(f"{path}/disks", {"label": "data", "size": 10})
    await quiet(client, path)
    answer = await client.send("POST", f"{path}/password", {"root_pass": "x7-Tangerine"})
    assert (answer.status, answer.problems) == (400, [(None, reason)])
    for disk in (await client.get(f"{path}/disks"))["data"]:
        await client.delete(f"{path}/disks/{disk['id']}")
        await quiet(client, path)
    answer = await client.send("POST", f"{path}/password", {"root_pass": "x7-Tangerine"})
    assert (answer.status, answer.problems) == (400, [(None, reason)])
