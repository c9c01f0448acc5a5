"""Compute instances over HTTP (spec B, Compute instances)."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.web import turns
from tests.support.client import Client, Json, until

INSTANCES = "/compute/instances"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB me@example"


def body(**more: object) -> Json:
    return {
        "type": "g1-micro-1",
        "region": "us-lake",
        "image": "roost/debian12",
        "root_pass": "correct-Horse7battery",
        **more,
    }


async def settled(client: Client, compute_id: int) -> Json:
    """The instance when it rests."""
    return await until(
        lambda: client.get(f"{INSTANCES}/{compute_id}"),
        lambda row: row["status"] in ("running", "offline"),
    )


async def running(client: Client, **more: object) -> Json:
    made = await client.post(INSTANCES, body(**more))
    return await until(
        lambda: client.get(f"{INSTANCES}/{made['id']}"), lambda row: row["status"] == "running"
    )


async def events(client: Client, compute_id: int) -> list[tuple[str, str]]:
    page = await client.get(
        "/account/events", filter={"entity.id": compute_id, "entity.type": "compute"}
    )
    return [(event["action"], event["status"]) for event in page["data"]]


async def gone(client: Client, compute_id: int) -> None:
    path = f"{INSTANCES}/{compute_id}"
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)


@pytest.mark.spec("B compute create")
async def test_life_of_an_instance(client: Client) -> None:
    made = await client.post(INSTANCES, body(label="web1", tags=["blue"], authorized_keys=[KEY]))
    assert made["status"] == "provisioning"
    assert len(str(made["id"])) == 6
    path = f"{INSTANCES}/{made['id']}"
    up = await until(lambda: client.get(path), lambda row: row["status"] == "running")
    assert await events(client, made["id"]) == [
        ("compute_boot", "finished"),
        ("compute_create", "finished"),
    ]
    assert await client.post(f"{path}/shutdown") == {}
    await until(lambda: client.get(path), lambda row: row["status"] == "offline")
    assert await client.post(f"{path}/boot") == {}
    await until(lambda: client.get(path), lambda row: row["status"] == "running")
    assert await client.post(f"{path}/reboot") == {}
    await until(lambda: client.get(path), lambda row: row["status"] == "running")
    assert await client.delete(path) == {}
    await gone(client, made["id"])
    assert await events(client, made["id"]) == [
        ("compute_delete", "finished"),
        ("compute_reboot", "finished"),
        ("compute_boot", "finished"),
        ("compute_shutdown", "finished"),
        ("compute_boot", "finished"),
        ("compute_create", "finished"),
    ]
    assert up["ipv4"] == made["ipv4"]


@pytest.mark.spec(
    "B compute record",
    "B compute hypervisor",
    "B compute user data",
    "B compute ipv4",
    "B compute ipv6",
    "B compute specs",
    "B compute alerts",
    "B compute alerts cpu",
)
async def test_the_record_has_every_field(client: Client) -> None:
    row = await running(client, type="g1-standard-2", group="old", private_ip=True)
    assert row["label"] == f"compute{row['id']}"
    assert row["group"] == "old"
    assert row["hypervisor"] == "kvm"
    assert row["specs"] == {
        "disk": 81920,
        "memory": 4096,
        "vcpus": 2,
        "gpus": 0,
        "transfer": 4000,
    }
    assert row["alerts"] == {
        "cpu": 180,
        "io": 10000,
        "network_in": 10,
        "network_out": 10,
        "transfer_quota": 80,
    }
    assert row["backups"] == {
        "enabled": False,
        "available": False,
        "schedule": {"day": None, "window": None},
        "last_successful": None,
    }
    assert row["watchdog_enabled"] is True
    assert row["has_user_data"] is False
    assert len(row["ipv4"]) == 2
    assert row["ipv4"][1].startswith("192.168.")
    assert row["ipv6"].endswith("/128")


async def test_an_instance_without_an_image_stays_offline(client: Client) -> None:
    made = await client.post(INSTANCES, {"type": "g1-micro-1", "region": "us-lake"})
    row = await settled(client, made["id"])
    assert (row["status"], row["image"]) == ("offline", None)
    answer = await client.send("POST", f"{INSTANCES}/{made['id']}/boot", {})
    assert answer.problems == [("config_id", "Compute has no configuration.")]


async def test_not_booted_when_not_wanted(client: Client) -> None:
    made = await client.post(INSTANCES, body(booted=False))
    assert (await settled(client, made["id"]))["status"] == "offline"
    assert await events(client, made["id"]) == [("compute_create", "finished")]


async def test_update(client: Client) -> None:
    row = await running(client)
    path = f"{INSTANCES}/{row['id']}"
    changed = await client.put(
        path,
        {
            "label": "renamed.one",
            "tags": ["green", "blue"],
            "group": "g",
            "alerts": {"cpu": 0, "io": 5},
            "watchdog_enabled": False,
        },
    )
    assert changed["label"] == "renamed.one"
    assert changed["tags"] == ["green", "blue"]
    assert changed["alerts"] == {**row["alerts"], "cpu": 0, "io": 5}
    assert changed["watchdog_enabled"] is False
    assert (await events(client, row["id"]))[0] == ("compute_update", "notification")
    sent_back = await client.put(path, changed)
    assert {**sent_back, "updated": ""} == {**changed, "updated": ""}
    assert (await client.put(path, {}))["label"] == "renamed.one"


async def test_an_update_that_changes_nothing(client: Client, roost: Roost) -> None:
    row = await client.post(INSTANCES, body(booted=False, tags=["blue"], backups_enabled=True))
    await settled(client, row["id"])
    path = f"{INSTANCES}/{row['id']}"
    await roost.store.execute(
        "update compute_instance set updated = '2020-01-01' where id = $1", row["id"]
    )
    row = await client.get(path)
    for sent in ({}, {"label": None}, row, {"backups": row["backups"]}):
        assert await client.put(path, sent) == row
    assert await events(client, row["id"]) == [("compute_create", "finished")]
    changed = await client.put(path, {"backups": {"schedule": {"day": "Monday"}}})
    assert changed["updated"] > row["updated"]


@pytest.mark.parametrize("root_pass", ["correct-Horse7battery", None])
async def test_what_is_sent_for_an_instance_without_an_image(
    client: Client, root_pass: str | None
) -> None:
    """Terraform asks to boot it and sends a password, and waits for `offline`."""
    place = {"type": "g1-nano-1", "region": "us-lake"}
    row = await client.post(INSTANCES, {**place, "booted": True, "root_pass": root_pass})
    assert (await settled(client, row["id"]))["status"] == "offline"
    assert await events(client, row["id"]) == [("compute_create", "finished")]


async def test_labels_are_unique_in_an_account(client: Client, stranger: Client) -> None:
    await client.post(INSTANCES, body(label="one", booted=False))
    taken = [("label", "Label must be unique among your computes")]
    assert (await client.send("POST", INSTANCES, body(label="one"))).problems == taken
    other = await client.post(INSTANCES, body(label="two", booted=False))
    answer = await client.send("PUT", f"{INSTANCES}/{other['id']}", {"label": "one"})
    assert answer.problems == taken
    assert (await stranger.post(INSTANCES, body(label="one", booted=False)))["label"] == "one"


@pytest.mark.spec("B compute default label")
async def test_a_default_label_avoids_a_taken_one(client: Client) -> None:
    first = await client.post(INSTANCES, body(booted=False))
    squatted = [f"compute{first['id'] + n}" for n in range(1, 40)]
    await client.post(INSTANCES, body(booted=False, label=squatted[-1]))
    for _ in range(len(squatted)):
        await client.post(INSTANCES, body(booted=False))
    labels = [row["label"] for row in (await client.get(INSTANCES))["data"]]
    assert len(labels) == len(set(labels)) == len(squatted) + 2


async def test_only_one_change_at_a_time(client: Client) -> None:
    row = await running(client)
    path = f"{INSTANCES}/{row['id']}"
    answers = await asyncio.gather(*(client.send("POST", f"{path}/reboot", {}) for _ in range(8)))
    refused = [answer.problems for answer in answers if answer.status != 200]
    assert len(refused) < 8
    assert all(problems == [(None, "Compute busy.")] for problems in refused)
    await settled(client, row["id"])


@pytest.mark.spec("A errors 5 status")
async def test_states_that_do_not_fit(client: Client) -> None:
    row = await running(client)
    path = f"{INSTANCES}/{row['id']}"
    answer = await client.send("POST", f"{path}/boot", {})
    assert answer.problems == [(None, "Compute is already running.")]
    await client.post(f"{path}/shutdown")
    await settled(client, row["id"])
    for action in ("shutdown", "reboot"):
        answer = await client.send("POST", f"{path}/{action}", {})
        assert answer.problems == [(None, "Compute is not running.")]
    answer = await client.send("POST", f"{path}/boot", {"config_id": 7})
    assert answer.problems == [("config_id", "config_id is not valid")]


async def test_delete_at_once_after_create(client: Client) -> None:
    made = await client.post(INSTANCES, body())
    path = f"{INSTANCES}/{made['id']}"
    assert await client.delete(path) == {}
    await gone(client, made["id"])
    seen = dict(await events(client, made["id"]))
    assert seen["compute_delete"] == "finished"
    assert set(seen.values()) <= {"finished", "failed"}


async def test_a_hundred_creates_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a busy machine lets the last of them wait for its turn."""
    monkeypatch.setattr(turns, "WAIT_SECONDS", 300)
    made = await asyncio.gather(*(client.post(INSTANCES, body(booted=False)) for _ in range(100)))
    assert len({row["id"] for row in made}) == 100
    assert len({row["label"] for row in made}) == 100
    assert len({row["ipv4"][0] for row in made}) == 100
    assert len({row["ipv6"] for row in made}) == 100


async def test_another_account_sees_nothing(client: Client, stranger: Client) -> None:
    row = await running(client)
    path = f"{INSTANCES}/{row['id']}"
    missing = await stranger.send("GET", f"{INSTANCES}/999999999")
    for method, suffix in (
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/boot"),
        ("POST", "/shutdown"),
        ("POST", "/reboot"),
    ):
        answer = await stranger.send(method, path + suffix, {} if method != "GET" else None)
        assert (answer.status, answer.raw) == (404, missing.raw)
    assert (await stranger.get(INSTANCES))["results"] == 0
    assert (await stranger.get("/account/events"))["results"] == 0
    assert (await client.get(path))["status"] == "running"
