"""Notifications come and go with their causes (spec B, Account)."""

from datetime import datetime

import pytest

from roost.app.roost import Roost
from roost.jobs.kinds import JobArgs
from roost.resources.maintenance import queries, service
from roost.resources.maintenance.records import MaintenanceType
from roost.resources.usage.alert_jobs import WATCH
from tests.api.conftest import Account
from tests.support.client import Client, Json, until
from tests.support.instances import made
from tests.support.usage import BUSY, measure

pytestmark = pytest.mark.spec("B account notifications")

PATH = "/account/notifications"


async def notified(client: Client, *left_out: str) -> list[Json]:
    """By default without the notice that every fresh account has."""
    rows = (await client.get(PATH))["data"]
    return [row for row in rows if row["type"] not in (left_out or ("notice",))]


async def test_account_without_email(client: Client, roost: Roost, account: Account) -> None:
    page = await client.get(PATH)
    assert page == {
        "data": [
            {
                "entity": {"id": None, "label": None, "type": "account", "url": "/v4/account"},
                "label": "Email address missing",
                "message": "This account has no email address. Please add one.",
                "body": None,
                "type": "notice",
                "severity": "minor",
                "when": None,
                "until": None,
            }
        ],
        "page": 1,
        "pages": 1,
        "results": 1,
    }
    await set_email(roost, account, "somebody@example.com")
    assert await client.get(PATH) == {"data": [], "page": 1, "pages": 1, "results": 0}
    await set_email(roost, account, "")
    assert (await client.get(PATH))["results"] == 1


async def set_email(roost: Roost, account: Account, email: str) -> None:
    await roost.store.execute("update account set email = $2 where id = $1", account.id, email)


async def test_outage_where_there_are_instances(
    client: Client, stranger: Client, roost: Roost
) -> None:
    region = "br-south"
    await made(client, region=region)
    await made(stranger)
    assert await notified(client) == []
    await set_region(roost, region, "outage")
    try:
        (row,) = await notified(client)
        assert await notified(stranger) == []
    finally:
        await set_region(roost, region, "ok")
    assert row["entity"] == {
        "id": None,
        "label": None,
        "type": "region",
        "url": f"/v4/regions/{region}",
    }
    assert (row["type"], row["severity"]) == ("outage", "critical")
    assert region in row["message"]
    assert await notified(client) == []


async def set_region(roost: Roost, region: str, status: str) -> None:
    """As a start with another catalogue does."""
    await roost.store.execute("update region set status = $2 where id = $1", region, status)


@pytest.mark.parametrize(
    ("type_", "shown"), [("reboot", "reboot_scheduled"), ("cold_migration", "migration_scheduled")]
)
async def test_maintenance_until_it_is_over(
    client: Client, stranger: Client, roost: Roost, type_: MaintenanceType, shown: str
) -> None:
    row = await made(client, label="tended")
    when = datetime(2126, 12, 1, 3)
    async with roost.store.transaction() as db:
        number = await service.schedule(db, row["id"], type_, when, "a fan is loud")
    (pending,) = await notified(client)
    what = type_.replace("_", " ")
    assert pending == {
        "entity": {
            "id": row["id"],
            "label": "tended",
            "type": "compute",
            "url": f"/v4/compute/instances/{row['id']}",
        },
        "label": f"{what.capitalize()} scheduled",
        "message": f"A {what} of compute tended is scheduled for 2126-12-01T03:00:00 UTC.",
        "body": "a fan is loud",
        "type": shown,
        "severity": "major",
        "when": "2126-12-01T03:00:00",
        "until": None,
    }
    assert await notified(stranger) == []
    await queries.set_status(roost.store, number, "started")
    (started,) = await notified(client)
    assert (started["type"], started["label"]) == (
        "maintenance",
        f"{what.capitalize()} in progress",
    )
    await queries.set_status(roost.store, number, "completed")
    assert await notified(client) == []


async def test_pages(client: Client, roost: Roost) -> None:
    compute_id = (await made(client))["id"]
    for hour in range(24):
        async with roost.store.transaction() as db:
            when = datetime(2126, 12, 1, hour)
            await service.schedule(db, compute_id, "reboot", when, "often")
    for hour in (0, 1):
        async with roost.store.transaction() as db:
            await service.schedule(db, compute_id, "reboot", datetime(2127, 1, 1, hour), "late")
    first = await client.get(f"{PATH}?page=1&page_size=25")
    second = await client.get(f"{PATH}?page=2&page_size=25")
    assert (first["pages"], first["results"], len(first["data"])) == (2, 27, 25)
    assert [row["type"] for row in second["data"]] == ["reboot_scheduled", "notice"]
    assert [row["when"] for row in first["data"]] == sorted(row["when"] for row in first["data"])
    assert (await client.send("GET", f"{PATH}?page=3&page_size=25")).status == 404
    absurd = await client.get(f"{PATH}?page={2**64}&page_size=25")
    assert absurd["data"] == second["data"]


@pytest.mark.parametrize("key", ["type", "severity", "label", "entity.id", "when"])
async def test_nothing_can_be_filtered(client: Client, key: str) -> None:
    answer = await client.send("GET", PATH, headers={"X-Filter": f'{{"{key}": "x"}}'})
    assert (answer.status, answer.problems) == (400, [("X-Filter", f"Cannot filter on {key}")])


@pytest.mark.spec("B compute alerts units", "B compute alerts")
async def test_what_exceeds_an_alert(client: Client, stranger: Client, roost: Roost) -> None:
    """A processor that was busy for an hour and a half of the last two."""
    row, other = await made(client), await made(client)
    for each in (row, other):
        await measure(roost, each["id"], *BUSY)
    path = f"/compute/instances/{row['id']}"
    await client.put(path, {"alerts": {"cpu": 75}})
    assert await alerts(client) == []
    await client.put(path, {"alerts": {"cpu": 74}})
    [found] = await alerts(client)
    assert found["entity"] == {
        "id": row["id"],
        "label": row["label"],
        "type": "compute",
        "url": f"/v4{path}",
    }
    assert found["message"] == (
        f"{row['label']} has a CPU usage of 75 % of a processor over the last two hours; "
        "the alert is at 74."
    )
    assert await alerts(stranger) == []
    assert await told(roost, row) == {f"{row['id']} CPU usage"}
    assert await told(roost, row) == {f"{row['id']} CPU usage"}
    [event] = await alert_events(client, row)
    assert (event["message"], event["status"]) == (found["message"], "notification")
    assert await alert_events(client, other) == []
    await client.put(path, {"alerts": {"cpu": 0}})
    assert await alerts(client) == []
    assert await told(roost, row) == set()


async def told(roost: Roost, instance: Json) -> set[str]:
    """The alerts of which its account was told, when all have been looked at."""
    job = await roost.queue.enqueue(roost.store, WATCH, JobArgs())
    ended = "select finished is not null from job where id = $1"
    await until(lambda: roost.store.fetchval(ended, job.id), bool)
    sql = "select compute_id || ' ' || alert as told from alert_told where compute_id = $1"
    return {row["told"] for row in await roost.store.fetch(sql, instance["id"])}


async def alert_events(client: Client, instance: Json) -> list[Json]:
    events = (await client.get("/account/events?page_size=100"))["data"]
    of = [each for each in events if (each["entity"] or {}).get("id") == instance["id"]]
    return [each for each in of if each["action"] == "compute_alert"]


async def alerts(client: Client) -> list[Json]:
    rows = (await client.get(PATH))["data"]
    return [row for row in rows if row["label"].startswith("Alert: ")]
