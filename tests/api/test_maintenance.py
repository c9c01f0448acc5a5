"""Maintenance as users see it, and what it does to instances (spec B, Account)."""

from datetime import datetime, timedelta

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from roost.jobs.kinds import JobArgs
from roost.resources.maintenance import jobs, service
from roost.resources.maintenance.records import MaintenanceType
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made

pytestmark = pytest.mark.spec("B account maintenance")

PATH = "/account/maintenance"
LATER = datetime(2126, 12, 1, 3)
NOW = datetime(2026, 1, 1)


async def plan(
    roost: Roost, compute_id: int, when: datetime = LATER, type_: MaintenanceType = "reboot"
) -> int:
    async with roost.store.transaction() as db:
        return await service.schedule(db, compute_id, type_, when, "a fan is loud")


async def begin(roost: Roost) -> None:
    """What happens each minute."""
    job = await roost.queue.enqueue(roost.store, jobs.DUE, JobArgs())

    async def ended() -> bool:
        found = await roost.queue.find(roost.store, job.id)
        return found is not None and found.status == "done"

    await until(ended, bool)


async def statuses(client: Client) -> list[str]:
    return [row["status"] for row in (await client.get(PATH))["data"]]


async def whens(client: Client, filter_: Json) -> list[str]:
    return [row["when"][:10] for row in (await client.get(PATH, filter=filter_))["data"]]


async def test_record(client: Client, roost: Roost) -> None:
    row = await made(client, label="tended")
    await plan(roost, row["id"])
    entity = {
        "label": "tended",
        "id": row["id"],
        "type": "compute",
        "url": f"/v4/compute/instances/{row['id']}",
    }
    assert (await client.get(PATH))["data"] == [
        {
            "type": "reboot",
            "status": "pending",
            "reason": "a fan is loud",
            "when": "2126-12-01T03:00:00",
            "entity": entity,
        }
    ]


async def test_of_ones_own_account_only(client: Client, stranger: Client, roost: Roost) -> None:
    await plan(roost, (await made(client))["id"])
    assert (await stranger.get(PATH))["results"] == 0
    assert (await client.get(PATH))["results"] == 1


async def test_canceled_is_left_out(client: Client, roost: Roost) -> None:
    maintenance_id = await plan(roost, (await made(client))["id"])
    async with roost.store.transaction() as db:
        await service.cancel(db, maintenance_id)
    assert await statuses(client) == []


@pytest.mark.spec("B filter")
async def test_filters(client: Client, roost: Roost) -> None:
    compute_id = (await made(client))["id"]
    days = [LATER + timedelta(days=n) for n in range(4)]
    for day in days:
        await plan(roost, compute_id, day)
    await plan(roost, compute_id, days[0], "cold_migration")
    first, second, third, fourth = [day.isoformat() for day in days]
    assert await whens(client, {"type": "cold_migration"}) == [first[:10]]
    assert await whens(client, {"when": second}) == [second[:10]]
    assert await whens(client, {"when": {"+gt": second, "+lt": fourth}}) == [third[:10]]
    either = {"when": {"+or": [second, {"+gt": third}]}}
    assert await whens(client, either) == [second[:10], fourth[:10]]
    assert await whens(client, {"status": "started"}) == []
    newest = {"status": "pending", "+order_by": "when", "+order": "desc"}
    assert await whens(client, newest) == [d[:10] for d in (fourth, third, second, first, first)]


@pytest.mark.parametrize("key", ["reason", "entity.id", "entity.label", "id"])
async def test_what_cannot_be_filtered(client: Client, key: str) -> None:
    answer = await client.send("GET", PATH, headers={"X-Filter": f'{{"{key}": "x"}}'})
    assert (answer.status, answer.problems) == (400, [("X-Filter", f"Cannot filter on {key}")])


async def test_restricted_user_sees_what_is_granted(
    client: Client,
    nobody: Client,
    account: Account,
    roost: Roost,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    hidden, granted = (await made(client))["id"], (await made(client))["id"]
    user = await new_user(account, restricted=True)
    restricted = nobody.as_user(await new_token(user))
    for compute_id in (hidden, granted):
        await plan(roost, compute_id)
    assert (await restricted.get(PATH))["results"] == 0
    await give(roost.store, user.user_id, "compute", granted, "read_only")
    rows = (await restricted.get(PATH))["data"]
    assert [row["entity"]["id"] for row in rows] == [granted]


async def event_of(client: Client, compute_id: int, action: str) -> Json:
    wanted = {"action": action, "entity.id": compute_id, "entity.type": "compute"}
    (event,) = (await client.get("/account/events", filter=wanted))["data"]
    return event


@pytest.mark.parametrize(
    ("type_", "action"), [("reboot", "host_reboot"), ("cold_migration", "compute_migrate")]
)
async def test_it_happens(
    client: Client, roost: Roost, type_: MaintenanceType, action: str
) -> None:
    compute_id = (await made(client, booted=True))["id"]
    await until(lambda: client.get(f"{INSTANCES}/{compute_id}"), lambda r: r["status"] == "running")
    await plan(roost, compute_id, NOW, type_)
    await begin(roost)
    await until(lambda: statuses(client), lambda found: found == ["completed"])
    event = await event_of(client, compute_id, action)
    assert (event["status"], event["username"]) == ("finished", None)
    assert (await client.get(f"{INSTANCES}/{compute_id}"))["status"] == "running"


async def test_what_is_off_stays_off(client: Client, roost: Roost) -> None:
    compute_id = (await made(client))["id"]
    await plan(roost, compute_id, NOW)
    await begin(roost)
    assert await statuses(client) == ["completed"]
    assert (await client.get(f"{INSTANCES}/{compute_id}"))["status"] == "offline"
    assert (await client.get("/account/events", filter={"action": "host_reboot"}))["results"] == 0


async def test_deleted_with_its_instance(client: Client, roost: Roost) -> None:
    compute_id = (await made(client))["id"]
    await plan(roost, compute_id)
    await client.delete(f"{INSTANCES}/{compute_id}")
    await until(lambda: statuses(client), lambda found: found == [])


async def test_another_accounts_instance_keeps_its_own(
    client: Client, roost: Roost, new_account: NewAccount, nobody: Client, new_token: NewToken
) -> None:
    """What is due is done in every account at once."""
    other = nobody.as_user(await new_token(await new_account()))
    for each in (client, other):
        await plan(roost, (await made(each))["id"], NOW)
    await begin(roost)
    assert await statuses(client) == await statuses(other) == ["completed"]
