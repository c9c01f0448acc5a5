"""Volumes over HTTP (spec A, Volumes)."""

import pytest

from roost.app.roost import Roost
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made
from tests.support.volumes import (
    VOLUMES,
    attached,
    detached,
    made_volume,
    plugged,
    powered,
    rested,
    running_instance,
    volume_body,
    volume_engine,
    volume_events,
    whole_events,
)


@pytest.mark.spec(
    "A volumes create",
    "A volume record",
    "A volumes view",
    "A volumes list",
    "A volume path",
    "A volume hardware",
    "A volume size",
    "A volumes create size",
    "A volumes create tags",
    "A volumes create compute",
)
async def test_create(client: Client) -> None:
    row = await client.post(VOLUMES, volume_body(label="web-data", tags=["blue"]))
    assert len(str(row["id"])) == 6
    assert row == {
        "id": row["id"],
        "label": "web-data",
        "filesystem_path": "/dev/disk/by-id/scsi-0Roost_Volume_web-data",
        "status": "creating",
        "size": 20,
        "region": "us-lake",
        "compute_id": None,
        "compute_label": None,
        "created": row["created"],
        "updated": row["created"],
        "tags": ["blue"],
        "hardware_type": "nvme",
    }
    ready = await rested(client, row["id"])
    assert ready == {**row, "status": "active", "updated": ready["updated"]}
    assert (await client.get(VOLUMES))["data"] == [ready]
    (event,) = await whole_events(client, row["id"])
    assert (event["action"], event["status"]) == ("volume_create", "finished")
    assert (event["percent_complete"], event["secondary_entity"]) == (100, None)
    url = f"/v4/volumes/{row['id']}"
    assert event["entity"] == {"id": row["id"], "label": "web-data", "type": "volume", "url": url}


@pytest.mark.spec(
    "A volumes create", "A volume status", "A volumes create compute", "A volume compute"
)
async def test_create_attached(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    row = await client.post(
        VOLUMES, {"label": "data", "size": 10, "compute_id": instance["id"], "region": None}
    )
    assert (row["region"], row["size"], row["status"]) == ("us-lake", 10, "creating")
    assert (row["compute_id"], row["compute_label"]) == (instance["id"], instance["label"])
    await rested(client, row["id"])
    assert await plugged(roost, row["id"]) == instance["id"]
    (event,) = await whole_events(client, row["id"])
    assert event["secondary_entity"]["id"] == instance["id"]
    listed = await client.get(f"{INSTANCES}/{instance['id']}/volumes")
    assert [found["id"] for found in listed["data"]] == [row["id"]]


@pytest.mark.spec("A volumes attach", "A volumes detach", "A volume compute")
async def test_attach_and_detach(client: Client, roost: Roost) -> None:
    instance, volume = await running_instance(client), await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    row = await client.post(f"{path}/attach", {"compute_id": instance["id"]})
    assert (row["compute_id"], row["compute_label"]) == (instance["id"], instance["label"])
    await rested(client, volume["id"])
    assert await plugged(roost, volume["id"]) == instance["id"]
    free = await detached(client, volume["id"])
    assert (free["compute_id"], free["compute_label"]) == (None, None)
    assert await plugged(roost, volume["id"]) is None
    events = await whole_events(client, volume["id"])
    assert [(event["action"], event["status"]) for event in events] == [
        ("volume_detach", "finished"),
        ("volume_attach", "finished"),
        ("volume_create", "finished"),
    ]
    for event in events[:2]:
        assert event["secondary_entity"]["url"] == f"/v4{INSTANCES}/{instance['id']}"


@pytest.mark.spec("A volumes attach", "A volumes attach persist")
async def test_a_volume_that_persists_comes_back_with_each_boot(
    client: Client, roost: Roost
) -> None:
    instance, volume = await running_instance(client), await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    await powered(client, instance["id"], "shutdown")
    assert (await client.get(f"{VOLUMES}/{volume['id']}"))["compute_id"] == instance["id"]
    assert await plugged(roost, volume["id"]) is None
    for action in ("boot", "reboot"):
        await powered(client, instance["id"], action)
        assert await plugged(roost, volume["id"]) == instance["id"]


@pytest.mark.spec("A volumes attach")
@pytest.mark.parametrize("action", ["shutdown", "reboot"])
async def test_one_that_does_not_goes_with_the_boot(
    client: Client, roost: Roost, action: str
) -> None:
    instance, volume = await running_instance(client), await made_volume(client)
    row = await attached(client, volume["id"], instance["id"], persist_across_boots=False)
    assert row["compute_id"] == instance["id"]
    assert await plugged(roost, volume["id"]) == instance["id"]
    await powered(client, instance["id"], action)
    assert (await client.get(f"{VOLUMES}/{volume['id']}"))["compute_id"] is None
    assert await plugged(roost, volume["id"]) is None
    assert (await volume_events(client, volume["id"]))[0] == ("volume_detach", "notification")
    assert (await attached(client, volume["id"], instance["id"]))["compute_id"] == instance["id"]


@pytest.mark.spec("A volumes attach")
async def test_attach_to_one_that_is_off(client: Client, roost: Roost) -> None:
    instance, volume = await made(client), await made_volume(client)
    row = await attached(client, volume["id"], instance["id"])
    assert (row["status"], row["compute_id"]) == ("active", instance["id"])
    assert await plugged(roost, volume["id"]) is None
    await powered(client, instance["id"], "boot")
    assert await plugged(roost, volume["id"]) == instance["id"]


@pytest.mark.spec("A volume freed")
async def test_deleting_the_instance_frees_its_volumes(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    lasting, passing = [await made_volume(client, label=label) for label in ("one", "two")]
    await attached(client, lasting["id"], instance["id"])
    await attached(client, passing["id"], instance["id"], persist_across_boots=False)
    await volume_engine(roost).write(lasting["id"], "precious")
    await client.delete(f"{INSTANCES}/{instance['id']}")
    for volume in (lasting, passing):
        path = f"{VOLUMES}/{volume['id']}"
        await until(lambda path=path: client.get(path), lambda row: row["compute_id"] is None)  # type: ignore[misc]
        assert (await volume_events(client, volume["id"]))[0] == ("volume_detach", "notification")
        assert await plugged(roost, volume["id"]) is None
    other = await running_instance(client)
    await attached(client, lasting["id"], other["id"])
    assert await volume_engine(roost).read(lasting["id"]) == "precious"


@pytest.mark.spec("A volumes clone", "A volumes clone data")
async def test_clone(client: Client, roost: Roost) -> None:
    source = await made_volume(client, size=30, tags=["blue"])
    await volume_engine(roost).write(source["id"], "some bytes")
    row = await client.post(f"{VOLUMES}/{source['id']}/clone", {"label": "copy"})
    assert row["id"] != source["id"]
    assert (row["status"], row["size"], row["region"]) == ("creating", 30, "us-lake")
    assert (row["label"], row["tags"], row["compute_id"]) == ("copy", [], None)
    await until(
        lambda: client.get(f"{VOLUMES}/{row['id']}"), lambda found: found["status"] == "active"
    )
    assert await volume_engine(roost).read(row["id"]) == "some bytes"
    event = (await whole_events(client, source["id"]))[0]
    assert (event["action"], event["status"]) == ("volume_clone", "finished")
    assert (event["entity"]["label"], event["secondary_entity"]["label"]) == ("data", "copy")
    assert await client.get(f"{VOLUMES}/{source['id']}") == source


@pytest.mark.spec("A volumes resize", "A volumes 2", "A volume status")
async def test_resize(client: Client, roost: Roost) -> None:
    instance, volume = await running_instance(client), await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    row = await client.post(f"{VOLUMES}/{volume['id']}/resize", {"size": 40})
    assert (row["status"], row["size"]) == ("resizing", 40)
    row = await rested(client, volume["id"])
    assert (row["status"], row["size"], row["compute_id"]) == ("active", 40, instance["id"])
    state = await volume_engine(roost).inspect(volume["id"])
    assert state is not None
    assert (state.size, state.compute_id) == (40, instance["id"])


@pytest.mark.spec("A volumes update", "A volume path")
async def test_update(client: Client) -> None:
    volume = await made_volume(client, tags=["blue"])
    path = f"{VOLUMES}/{volume['id']}"
    row = await client.put(path, {"label": "renamed", "tags": ["green", "red"]})
    assert (row["label"], row["tags"]) == ("renamed", ["green", "red"])
    assert row["filesystem_path"] == "/dev/disk/by-id/scsi-0Roost_Volume_renamed"
    assert (await volume_events(client, volume["id"]))[0] == ("volume_update", "notification")
    changed = {**row, "size": 99, "region": "br-south", "compute_id": 5, "status": "resizing"}
    sent_back = await client.put(path, changed)
    assert {**sent_back, "updated": ""} == {**row, "updated": ""}
    assert (await client.put(path, {"tags": []}))["tags"] == []
    assert (await client.put(path, {}))["label"] == "renamed"


async def test_an_update_that_changes_nothing(client: Client, roost: Roost) -> None:
    volume = await made_volume(client, tags=["blue"])
    path = f"{VOLUMES}/{volume['id']}"
    await roost.store.execute("update volume set updated = '2020-01-01'")
    row = await client.get(path)
    for body in ({}, {"label": None}, row):
        assert await client.put(path, body) == row
    assert await volume_events(client, volume["id"]) == [("volume_create", "finished")]


@pytest.mark.spec("A volumes delete", "A volumes 5")
async def test_delete(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    assert await client.delete(path) == {}
    assert (await client.send("GET", path)).status == 404
    assert (await client.send("DELETE", path)).status == 404
    assert (await client.get(VOLUMES))["results"] == 0
    await until(lambda: volume_engine(roost).inspect(volume["id"]), lambda state: state is None)
    await rested_events(client, volume)
    again = await made_volume(client)
    assert again["label"] == volume["label"]


async def rested_events(client: Client, volume: Json) -> None:
    await until(
        lambda: volume_events(client, volume["id"]),
        lambda events: events[0] == ("volume_delete", "finished"),
    )


async def test_labels_are_unique_in_an_account(client: Client, stranger: Client) -> None:
    first, second = await made_volume(client), await made_volume(client, label="other")
    taken = [("label", "Label must be unique among your volumes")]
    assert (await client.send("POST", VOLUMES, volume_body())).problems == taken
    path = f"{VOLUMES}/{second['id']}"
    assert (await client.send("PUT", path, {"label": "data"})).problems == taken
    clone = await client.send("POST", f"{VOLUMES}/{first['id']}/clone", {"label": "other"})
    assert clone.problems == taken
    assert (await client.put(path, {"label": "other"}))["label"] == "other"
    assert (await made_volume(stranger))["label"] == "data"


async def test_another_account_sees_nothing(client: Client, stranger: Client) -> None:
    instance, volume = await made(stranger), await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    missing = await stranger.send("GET", f"{VOLUMES}/999999999")
    assert missing.status == 404
    for method, suffix, body in (
        ("GET", "", None),
        ("PUT", "", {"label": "x"}),
        ("DELETE", "", None),
        ("POST", "/attach", {"compute_id": instance["id"]}),
        ("POST", "/detach", None),
        ("POST", "/clone", {"label": "x"}),
        ("POST", "/resize", {"size": 40}),
    ):
        answer = await stranger.send(method, path + suffix, body)
        assert (answer.status, answer.raw) == (404, missing.raw), suffix
    foreign = await client.send("POST", f"{path}/attach", {"compute_id": instance["id"]})
    assert foreign.problems == [("compute_id", "compute_id is not valid")]
    answer = await client.send("GET", f"{INSTANCES}/{instance['id']}/volumes")
    assert answer.status == 404
    assert (await stranger.get(VOLUMES))["results"] == 0
    assert await client.get(path) == volume


@pytest.mark.spec("A volumes list", "B filter")
async def test_filters(client: Client) -> None:
    web = await made_volume(client, label="web-1", tags=["blue", "red"])
    db = await made_volume(client, label="db-1", tags=["red"])

    async def found(**wanted: object) -> list[int]:
        return [row["id"] for row in (await client.get(VOLUMES, filter=wanted))["data"]]

    assert await found(label="web-1") == [web["id"]]
    assert await found(label={"+contains": "-1"}) == [web["id"], db["id"]]
    assert await found(tags="blue") == [web["id"]]
    assert await found(tags={"+neq": "blue"}) == [db["id"]]
    assert await found(**{"+and": [{"tags": "blue"}, {"tags": "red"}]}) == [web["id"]]
    assert await found(**{"+or": [{"tags": "blue"}, {"label": "db-1"}]}) == [web["id"], db["id"]]
    assert await found(**{"+order_by": "label"}) == [db["id"], web["id"]]
    assert await found(region="us-lake", **{"+order": "desc"}) == [db["id"], web["id"]]
    assert await found(region="br-south") == []
    assert await found(compute_id=None) == [web["id"], db["id"]]
    assert await found(compute_id=1) == []
    for field in ("id", "size", "status"):
        answer = await client.send("GET", VOLUMES, headers={"X-Filter": f'{{"{field}": 1}}'})
        assert answer.problems == [("X-Filter", f"Cannot filter on {field}")]


@pytest.mark.spec("A volumes attach")
async def test_a_config_that_names_it(client: Client, roost: Roost) -> None:
    """It is attached; a guest that runs with that config has it at once."""
    instance, volume = await running_instance(client), await made_volume(client)
    path = f"{INSTANCES}/{instance['id']}/configs"
    (config,) = (await client.get(path))["data"]
    devices = {**config["devices"], "sdh": {"volume_id": volume["id"]}}
    await client.put(f"{path}/{config['id']}", {"devices": devices})
    row = await rested(client, volume["id"])
    assert row["compute_id"] == instance["id"]
    assert await plugged(roost, volume["id"]) == instance["id"]
    assert (await volume_events(client, volume["id"]))[0] == ("volume_attach", "finished")
    await detached(client, volume["id"])
    (config,) = (await client.get(path))["data"]
    assert config["devices"]["sdh"] is None
    await powered(client, instance["id"], "shutdown")
    await client.put(f"{path}/{config['id']}", {"devices": devices})
    assert (await client.get(f"{VOLUMES}/{volume['id']}"))["compute_id"] == instance["id"]
    assert (await volume_events(client, volume["id"]))[0] == ("volume_attach", "notification")
    await powered(client, instance["id"], "boot")
    assert await plugged(roost, volume["id"]) == instance["id"]
