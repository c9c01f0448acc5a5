"""Every field of the bodies that change an instance: PUT, boot and reboot."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.resources.compute.bodies import UpdateInstance
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.instances import INSTANCES, held, made

pytestmark = pytest.mark.spec("B compute record")

LENGTH = "Length must be 3-64 characters"
NUMBER = "Must be 0-2147483647"
NO_BACKUPS = "Backups are not enabled"
ALERTS = ("cpu", "io", "network_in", "network_out", "transfer_quota")

ACCEPTED: list[Json] = [
    {},
    {"label": "abc"},
    {"label": "a" * 64},
    {"tags": []},
    {"tags": ["abc", "t" * 50]},
    {"group": ""},
    {"group": "g" * 255},
    {"watchdog_enabled": False},
    *({"alerts": {alert: value}} for alert in ALERTS for value in (0, 2**31 - 1)),
    {"alerts": {}},
    {"backups": {}},
    {"backups": {"schedule": {}}},
    {"backups": {"schedule": {"day": None, "window": None}}},
    dict.fromkeys(UpdateInstance.model_fields),
    {"alerts": dict.fromkeys(ALERTS)},
    {"region": "nowhere", "image": 5, "specs": "big", "status": "offline", "id": 1},
]

REFUSED: list[tuple[Json, list[tuple[str, str]]]] = [
    ({"label": 5}, [("label", "Must be a string")]),
    ({"label": ""}, [("label", LENGTH)]),
    ({"label": "ab"}, [("label", LENGTH)]),
    ({"label": "a" * 65}, [("label", LENGTH)]),
    ({"label": "a\0b"}, [("label", "Must not contain NUL characters")]),
    ({"tags": "abc"}, [("tags", "Must be an array")]),
    (
        {"tags": ["ab", 5, "abc"]},
        [("tags[0]", "Length must be 3-50 characters"), ("tags[1]", "Must be a string")],
    ),
    ({"group": "g" * 256}, [("group", "Length must be 0-255 characters")]),
    ({"group": 5}, [("group", "Must be a string")]),
    ({"watchdog_enabled": "no"}, [("watchdog_enabled", "Must be true or false")]),
    ({"watchdog_enabled": 0}, [("watchdog_enabled", "Must be true or false")]),
    ({"alerts": []}, [("alerts", "Must be an object")]),
    *(({"alerts": {alert: -1}}, [(f"alerts.{alert}", NUMBER)]) for alert in ALERTS),
    *(({"alerts": {alert: 2**31}}, [(f"alerts.{alert}", NUMBER)]) for alert in ALERTS),
    *(({"alerts": {alert: "1"}}, [(f"alerts.{alert}", "Must be an integer")]) for alert in ALERTS),
    ({"backups": True}, [("backups", "Must be an object")]),
    ({"backups": {"schedule": "W0"}}, [("backups.schedule", "Must be an object")]),
    (
        {"backups": {"schedule": {"window": "W0", "day": "Sunday"}}},
        [("backups.schedule.day", NO_BACKUPS), ("backups.schedule.window", NO_BACKUPS)],
    ),
    (
        {
            "alerts": {"io": -1, "cpu": -1},
            "label": "-",
            "group": 1,
            "watchdog_enabled": 1,
            "tags": [""],
        },
        [
            ("label", LENGTH),
            ("tags[0]", "Length must be 3-50 characters"),
            ("group", "Must be a string"),
            ("alerts.cpu", NUMBER),
            ("alerts.io", NUMBER),
            ("watchdog_enabled", "Must be true or false"),
        ],
    ),
]

CONFIGS = [
    (1, "config_id is not valid"),
    (0, f"Must be 1-{2**63 - 1}"),
    (-1, f"Must be 1-{2**63 - 1}"),
    (2**63, f"Must be 1-{2**63 - 1}"),
    ("1", "Must be an integer"),
    (1.5, "Must be an integer"),
    (True, "Must be an integer"),
    ([], "Must be an integer"),
]


@pytest.mark.spec("B compute alerts", "B compute region")
@pytest.mark.parametrize("body", ACCEPTED, ids=str)
async def test_accepted(client: Client, body: Json) -> None:
    before = await made(client)
    path = f"{INSTANCES}/{before['id']}"
    changed = await client.put(path, body)
    known = {key: value for key, value in body.items() if key in UpdateInstance.model_fields}
    known.pop("backups", None)
    alerts = {k: v for k, v in (known.pop("alerts", None) or {}).items() if v is not None}
    wanted = {key: value for key, value in known.items() if value is not None}
    expected = {**before, **wanted, "alerts": {**before["alerts"], **alerts}}
    assert {**changed, "updated": ""} == {**expected, "updated": ""}
    assert await client.get(path) == changed


@pytest.mark.spec("B compute alerts")
@pytest.mark.parametrize(("body", "problems"), REFUSED, ids=str)
async def test_refused(
    client: Client, roost: Roost, account: Account, body: Json, problems: list[tuple[str, str]]
) -> None:
    row = await made(client)
    before = await held(roost, account.id)
    answer = await client.send("PUT", f"{INSTANCES}/{row['id']}", body)
    assert (answer.status, answer.problems) == (400, problems)
    assert await held(roost, account.id) == before
    assert await client.get(f"{INSTANCES}/{row['id']}") == row


@pytest.mark.parametrize("action", ["boot", "reboot"])
async def test_boot_bodies(client: Client, roost: Roost, account: Account, action: str) -> None:
    row = await made(client)
    path = f"{INSTANCES}/{row['id']}/{action}"
    before = await held(roost, account.id)
    for value, reason in CONFIGS:
        answer = await client.send("POST", path, {"config_id": value})
        assert (answer.status, answer.problems) == (400, [("config_id", reason)])
    assert await held(roost, account.id) == before


@pytest.mark.parametrize("data", [b"", b"{}", b'{"config_id": null}', b'{"more": [1]}'])
async def test_boot_without_a_configuration(client: Client, data: bytes) -> None:
    row = await made(client)
    answer = await client.send(
        "POST",
        f"{INSTANCES}/{row['id']}/boot",
        data=data,
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status, answer.raw) == (200, b"{}")


async def test_changes_at_the_same_time_all_count(client: Client) -> None:
    row = await made(client)
    path = f"{INSTANCES}/{row['id']}"
    changes: list[Json] = [
        *({"alerts": {alert: number}} for number, alert in enumerate(ALERTS, 1)),
        {"label": "changed"},
        {"group": "changed"},
        {"tags": ["changed"]},
    ]
    await asyncio.gather(*(client.put(path, change) for change in changes))
    after = await client.get(path)
    assert after["alerts"] == {alert: number for number, alert in enumerate(ALERTS, 1)}
    assert (after["label"], after["group"], after["tags"]) == ("changed", "changed", ["changed"])


async def test_one_of_many_gets_a_label(client: Client) -> None:
    ids = [(await made(client))["id"] for _ in range(6)]
    answers = await asyncio.gather(
        *(client.send("PUT", f"{INSTANCES}/{number}", {"label": "wanted"}) for number in ids)
    )
    assert sorted(answer.status for answer in answers) == [200] + [400] * 5
    taken = [("label", "Label must be unique among your computes")]
    assert all(answer.problems == taken for answer in answers if answer.status == 400)
    labels = [row["label"] for row in (await client.get(INSTANCES))["data"]]
    assert labels.count("wanted") == 1
