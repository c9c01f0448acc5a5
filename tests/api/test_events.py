"""Events of the last 90 days: list, view, read and seen (spec B, Account and Events)."""

import json
from collections.abc import Sequence
from datetime import timedelta

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.instances import INSTANCES, create_body, made

pytestmark = pytest.mark.spec("B events kinds")

EVENTS = "/account/events"
DAY = timedelta(days=1)


async def insert(
    roost: Roost,
    account: Account,
    action: str = "tag_create",
    age: timedelta = DAY,
    **entity: object,
) -> int:
    """An event of some age."""
    event_id: int = await roost.store.fetchval(
        "insert into event (account_id, username, action, status, created, entity)"
        " values ($1, $2, $3, 'notification', $4, $5) returning id",
        account.id,
        account.username,
        action,
        roost.clock.seconds() - age,
        json.dumps({"id": 7, "label": "x", "type": "tag", "url": "/v4/tags/x", **entity}),
    )
    return event_id


async def ids(client: Client, **filter_: object) -> list[int]:
    page = await client.get(EVENTS, filter=filter_)
    assert page["results"] == len(page["data"])
    return [event["id"] for event in page["data"]]


async def flags(client: Client, name: str, wanted: Sequence[int]) -> list[bool]:
    events = {event["id"]: event for event in (await client.get(EVENTS))["data"]}
    return [events[event_id][name] for event_id in wanted]


@pytest.mark.spec("B account events view")
async def test_the_event_of_a_job(client: Client, account: Account) -> None:
    row = await made(client, label="tested")
    (event,) = (await client.get(EVENTS, filter={"action": "compute_create"}))["data"]
    assert event == {
        "id": event["id"],
        "action": "compute_create",
        "created": event["created"],
        "duration": event["duration"],
        "entity": {
            "id": row["id"],
            "label": "tested",
            "type": "compute",
            "url": f"/v4/compute/instances/{row['id']}",
        },
        "secondary_entity": {
            "id": "roost/debian12",
            "label": "roost/debian12",
            "type": "image",
            "url": "/v4/images/roost/debian12",
        },
        "percent_complete": 100,
        "rate": None,
        "read": False,
        "seen": False,
        "status": "finished",
        "time_remaining": None,
        "username": account.username,
        "message": "",
    }
    assert event["duration"] >= 0
    assert await client.get(f"{EVENTS}/{event['id']}") == event


async def test_the_event_of_a_change(client: Client, account: Account) -> None:
    row = await made(client)
    await client.put(f"{INSTANCES}/{row['id']}", {"label": "renamed"})
    event = (await client.get(EVENTS))["data"][0]
    assert (event["action"], event["status"]) == ("compute_update", "notification")
    assert (event["percent_complete"], event["duration"]) == (None, None)
    assert event["entity"]["label"] == "renamed"


@pytest.mark.spec("B account events list")
async def test_the_newest_come_first(client: Client, roost: Roost, account: Account) -> None:
    made_in_order = [await insert(roost, account) for _ in range(30)]
    assert await ids(client) == made_in_order[::-1]
    first = await client.get(f"{EVENTS}?page_size=25")
    second = await client.get(f"{EVENTS}?page_size=25&page=2")
    assert (first["page"], first["pages"], first["results"]) == (1, 2, 30)
    assert (second["page"], second["pages"], second["results"]) == (2, 2, 30)
    listed = [event["id"] for page in (first, second) for event in page["data"]]
    assert listed == made_in_order[::-1]


@pytest.mark.spec("B filter", "B filter or")
async def test_filters(client: Client, roost: Roost, account: Account) -> None:
    tag = await insert(roost, account, "tag_create", id="blue", type="tag", age=3 * DAY)
    disk = await insert(roost, account, "disk_create", id=41, type="compute", age=2 * DAY)
    boot = await insert(roost, account, "compute_boot", id=4, type="compute", age=DAY)
    then = (roost.clock.seconds() - 2 * DAY).isoformat()
    assert await ids(client, **{"entity.id": 4}) == [boot]
    assert await ids(client, **{"entity.id": "4"}) == [boot]
    assert await ids(client, **{"entity.id": "blue"}) == [tag]
    assert await ids(client, **{"entity.id": 5}) == []
    assert await ids(client, **{"entity.type": "compute"}) == [boot, disk]
    assert await ids(client, action="tag_create") == [tag]
    assert await ids(client, action={"+contains": "_create"}) == [disk, tag]
    assert await ids(client, action={"+neq": "compute_boot"}) == [disk, tag]
    assert await ids(client, id=disk) == [disk]
    assert await ids(client, id={"+gte": disk}) == [boot, disk]
    assert await ids(client, created={"+gte": then}) == [boot, disk]
    assert await ids(client, created={"+lt": then}) == [tag]
    either = [{"action": "tag_create"}, {"entity.id": 4}]
    assert await ids(client, **{"+or": either}) == [boot, tag]
    both = [{"entity.type": "compute"}, {"action": "compute_boot"}]
    assert await ids(client, **{"+and": both}) == [boot]
    ordered = {"+order_by": "created", "+order": "asc"}
    assert await ids(client, **ordered) == [tag, disk, boot]
    assert await ids(client, **{**ordered, "+order": "desc"}) == [boot, disk, tag]
    assert await ids(client, **{"+order_by": "action"}) == [boot, disk, tag]


async def test_the_filter_of_a_client_that_waits(client: Client) -> None:
    """As the Go client asks: for one action on one entity, not before some moment."""
    row = await made(client)
    (event,) = await ids(client, action="compute_create")
    created = (await client.get(f"{EVENTS}/{event}"))["created"]
    wanted = {
        "action": "compute_create",
        "created": {"+gte": created},
        "entity.id": row["id"],
        "entity.type": "compute",
        "+order_by": "created",
        "+order": "desc",
    }
    assert await ids(client, **wanted) == [event]
    assert await ids(client, **{**wanted, "id": {"+gte": event}}) == [event]
    assert await ids(client, **{**wanted, "id": {"+gt": event}}) == []


@pytest.mark.parametrize("field", ["status", "username", "entity", "entity.label", "message", "x"])
async def test_what_cannot_be_filtered(client: Client, field: str) -> None:
    answer = await client.send("GET", EVENTS, headers={"X-Filter": json.dumps({field: "x"})})
    assert answer.problems == [("X-Filter", f"Cannot filter on {field}")]
    answer = await client.send(
        "GET", EVENTS, headers={"X-Filter": json.dumps({"+order_by": field})}
    )
    assert answer.status == 400


@pytest.mark.spec("B account events read")
async def test_read_marks_one(client: Client, roost: Roost, account: Account) -> None:
    events = [await insert(roost, account) for _ in range(3)]
    assert await client.post(f"{EVENTS}/{events[1]}/read") == {}
    assert await client.post(f"{EVENTS}/{events[1]}/read") == {}
    assert await flags(client, "read", events) == [False, True, False]
    assert await flags(client, "seen", events) == [False, False, False]
    assert await ids(client, read=True) == [events[1]]
    assert await ids(client, read=False) == [events[2], events[0]]


@pytest.mark.spec("B account events seen")
async def test_seen_marks_all_up_to_one(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    await made(stranger)
    events = [await insert(roost, account) for _ in range(4)]
    assert await client.post(f"{EVENTS}/{events[2]}/seen") == {}
    assert await flags(client, "seen", events) == [True, True, True, False]
    assert await flags(client, "read", events) == [False] * 4
    assert await ids(client, seen=False) == [events[3]]
    assert not any(event["seen"] for event in (await stranger.get(EVENTS))["data"])


@pytest.mark.spec("B events window")
async def test_they_are_kept_for_90_days(client: Client, roost: Roost, account: Account) -> None:
    old = await insert(roost, account, age=90 * DAY + timedelta(seconds=1))
    young = await insert(roost, account, age=90 * DAY - timedelta(minutes=1))
    assert await ids(client) == [young]
    assert (await client.get(EVENTS))["results"] == 1
    assert (await client.send("GET", f"{EVENTS}/{young}")).status == 200
    for method, suffix in (("GET", ""), ("POST", "/read"), ("POST", "/seen")):
        answer = await client.send(method, f"{EVENTS}/{old}{suffix}")
        assert (answer.status, answer.problems) == (404, [(None, "Not found")])
    found = await roost.store.fetchrow("select read, seen from event where id = $1", old)
    assert found is not None
    assert (found["read"], found["seen"]) == (False, False)


async def test_another_account(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    event = await insert(roost, account)
    assert (await stranger.get(EVENTS))["data"] == []
    for method, suffix in (("GET", ""), ("POST", "/read"), ("POST", "/seen")):
        assert (await stranger.send(method, f"{EVENTS}/{event}{suffix}")).status == 404
    assert await flags(client, "read", [event]) == await flags(client, "seen", [event]) == [False]


async def test_a_refused_write_leaves_no_event(client: Client) -> None:
    body: Json = create_body(label="taken")
    await client.post(INSTANCES, body)
    before = await ids(client, action="compute_create")
    assert (await client.send("POST", INSTANCES, body)).status == 400
    assert await ids(client, action="compute_create") == before
