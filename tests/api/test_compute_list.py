"""Instances as a list, one by one, and gone (spec B, Compute instances)."""

import asyncio
from datetime import timedelta
from ipaddress import IPv6Address
from uuid import UUID

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.resources.compute.engine import INSTANCE_PLANE
from tests.api.conftest import Account
from tests.support.client import Client, until
from tests.support.instances import INSTANCES, OMITTED, create_body, held, made
from tests.support.stage import Stage


@pytest.mark.spec("B compute list", "A envelope")
async def test_a_list_of_some_pages(client: Client) -> None:
    bare = create_body(image=OMITTED, root_pass=OMITTED)
    rows = await asyncio.gather(*(client.post(INSTANCES, bare) for _ in range(60)))
    ids = sorted(row["id"] for row in rows)
    pages = [await client.get(f"{INSTANCES}?page_size=25&page={n}") for n in (1, 2, 3)]
    assert [len(page["data"]) for page in pages] == [25, 25, 10]
    assert {(page["pages"], page["results"]) for page in pages} == {(3, 60)}
    assert [row["id"] for page in pages for row in page["data"]] == ids
    assert (await client.send("GET", f"{INSTANCES}?page_size=25&page=4")).status == 404
    last = await client.get(f"{INSTANCES}?page_size=25&page={2**70}")
    assert (last["page"], [row["id"] for row in last["data"]]) == (3, ids[50:])
    newest = await client.get(
        f"{INSTANCES}?page_size=25", filter={"+order_by": "id", "+order": "desc"}
    )
    assert [row["id"] for row in newest["data"]] == ids[:34:-1]


@pytest.mark.spec("B compute list", "B filter", "B filter and", "B filter or")
async def test_filters(client: Client) -> None:
    web = await made(client, label="web-1", tags=["blue", "red"], group="front")
    db = await made(client, label="db-1", tags=["red"], region="br-south", image="roost/arch")

    async def found(**wanted: object) -> list[int]:
        rows = (await client.get(INSTANCES, filter=wanted))["data"]
        return [row["id"] for row in rows]

    assert await found(label="web-1") == [web["id"]]
    assert await found(label="WEB-1") == []
    assert await found(label={"+contains": "-1"}) == [web["id"], db["id"]]
    assert await found(label={"+contains": "WEB"}) == [web["id"]]
    assert await found(id=db["id"]) == [db["id"]]
    assert await found(region="br-south") == [db["id"]]
    assert await found(image="roost/arch") == [db["id"]]
    assert await found(group="front") == [web["id"]]
    assert await found(tags="blue") == [web["id"]]
    assert await found(tags={"+neq": "blue"}) == [db["id"]]
    assert await found(ipv4=db["ipv4"][0]) == [db["id"]]
    assert await found(tags="red", region="us-lake") == [web["id"]]
    assert await found(**{"+and": [{"tags": "red"}, {"tags": "blue"}]}) == [web["id"]]
    assert await found(**{"+or": [{"tags": "blue"}, {"region": "br-south"}]}) == [
        web["id"],
        db["id"],
    ]
    assert await found(**{"+order_by": "label"}) == [db["id"], web["id"]]


@pytest.mark.spec("B compute view", "B compute record")
async def test_list_and_view_show_the_same(client: Client) -> None:
    row = await made(client)
    assert await client.get(f"{INSTANCES}/{row['id']}") == row
    assert (await client.get(INSTANCES))["data"] == [row]


@pytest.mark.spec("B compute delete", "B events kinds")
@pytest.mark.parametrize("booted", [False, True])
async def test_delete(client: Client, roost: Roost, account: Account, booted: bool) -> None:
    row = await made(client, booted=booted, private_ip=True)
    path = f"{INSTANCES}/{row['id']}"
    assert (await held(roost, account.id))["addresses"] == 2
    assert await client.delete(path) == {}
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert (await client.get(INSTANCES))["results"] == 0
    counts = await held(roost, account.id)
    assert (counts["instances"], counts["addresses"]) == (0, 0)
    assert (
        await roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake").inspect(row["id"]) is None
    )
    for method in ("PUT", "DELETE"):
        assert (await client.send(method, path, {})).status == 404
    events = (await client.get("/account/events", filter={"entity.id": row["id"]}))["data"]
    assert (events[0]["action"], events[0]["status"]) == ("compute_delete", "finished")
    assert all(event["status"] in ("finished", "failed") for event in events)


@pytest.mark.spec("B compute delete")
async def test_deleting_twice_is_one_deletion(client: Client) -> None:
    row = await made(client)
    path = f"{INSTANCES}/{row['id']}"
    answers = await asyncio.gather(*(client.send("DELETE", path) for _ in range(8)))
    assert {answer.status for answer in answers} <= {200, 404}
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    wanted = {"entity.id": row["id"], "action": "compute_delete"}
    assert (await client.get("/account/events", filter=wanted))["results"] == 1


@pytest.mark.spec("B compute delete")
async def test_a_deleted_label_is_free_again(client: Client) -> None:
    row = await made(client, label="reused")
    path = f"{INSTANCES}/{row['id']}"
    await client.delete(path)
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert (await made(client, label="reused"))["id"] != row["id"]


@pytest.mark.spec("B compute host_uuid", "B compute ipv6")
async def test_its_uuid_and_the_address_that_it_gives_itself(client: Client, roost: Roost) -> None:
    row = await made(client)
    assert str(UUID(row["host_uuid"])) == row["host_uuid"]
    address = IPv6Address(row["ipv6"].removesuffix("/128"))
    assert address in roost.catalog.ipv6_network("us-lake")
    assert address.packed[11:13] == b"\xff\xfe", "made of a MAC address"


@pytest.mark.spec("B compute 4")
@pytest.mark.parametrize(("days", "restricted"), [(-1, True), (0, True), (1, False)])
async def test_guests_of_newer_accounts_send_no_mail(
    client: Client,
    roost: Roost,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    restricted: bool,
) -> None:
    row = await made(client, booted=True)
    opened = await roost.store.fetchval("select created from account where id = $1", account.id)
    changed = {"mail_restricted_since": opened + timedelta(days=days)}
    entries = roost.catalog.entries.model_copy(update=changed)
    monkeypatch.setattr(roost.catalog, "entries", entries)
    assert (await Stage(roost).spec(row["id"])).mail_restricted is restricted
