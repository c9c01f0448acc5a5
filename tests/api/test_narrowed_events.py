"""Events under restrictions of entities: those about what is left, and no others."""

import json

import pytest

from roost.app.roost import Roost
from roost.resources.volumes.queries import VOLUME
from tests.api.conftest import Account
from tests.api.test_events import EVENTS, insert
from tests.support.client import Client, Json
from tests.support.narrowing import narrowed, refused
from tests.support.server import RunningRoost
from tests.support.streams import reading
from tests.support.volumes import VOLUMES

_ADD_SECOND = "update event set secondary_entity = $2 where id = $1"


def image(image_id: str) -> Json:
    return {"id": image_id, "label": "x", "type": "image", "url": f"/v4/images/{image_id}"}


async def ids(client: Client, wanted: Json = None) -> list[int]:
    return [event["id"] for event in (await client.get(EVENTS, filter=wanted))["data"]]


@pytest.fixture
async def volumes(client: Client) -> tuple[Json, Json]:
    """One that is left to a token, and one that is not."""
    body = {"region": "us-lake", "label": "left", "tags": ["blue"]}
    return await client.post(VOLUMES, body), await client.post(
        VOLUMES, {**body, "label": "other", "tags": []}
    )


async def about(roost: Roost, account: Account, row: Json, second: Json = None) -> int:
    """An event about a volume, and something else."""
    found = await insert(roost, account, "volume_update", type="volume", id=row["id"])
    if second is not None:
        await roost.store.execute(_ADD_SECOND, found, json.dumps(second))
    return found


async def test_lists_and_records(
    client: Client, roost: Roost, account: Account, volumes: tuple[Json, Json]
) -> None:
    left, other = volumes
    mine, hidden = [await about(roost, account, each) for each in volumes]
    both = await about(roost, account, left, VOLUME.entity(other["id"], "other"))
    private = await about(roost, account, left, image("private/1"))
    public = await about(roost, account, left, image("roost/debian12"))
    nothing = await insert(roost, account, "tag_create")
    for restriction in ({"entities": {"volume": [left["id"]]}}, {"tags": ["blue"]}):
        child = narrowed(client, restriction)
        shown = set(await ids(child))
        assert {mine, public} <= shown
        assert shown.isdisjoint((hidden, both, private, nothing))
        rows = (await child.get(EVENTS))["data"]
        assert {each["entity"]["id"] for each in rows} == {left["id"]}
        assert await ids(child, {"entity.id": other["id"], "entity.type": "volume"}) == []
        assert await child.get(f"{EVENTS}/{mine}") == await client.get(f"{EVENTS}/{mine}")
        for each in (hidden, both, private, nothing):
            assert (await child.send("GET", f"{EVENTS}/{each}")).status == 404
        assert (await child.send("POST", f"{EVENTS}/{mine}/read")).status == 403
        assert set(await ids(child, {"action": "volume_update"})) == {mine, public}


async def test_two_restrictions_leave_what_both_leave(
    client: Client, roost: Roost, account: Account, volumes: tuple[Json, Json]
) -> None:
    left, other = volumes
    for row in volumes:
        await about(roost, account, row)
    only = [{"entities": {"volume": [row["id"]]}} for row in (left, other)]
    assert await ids(narrowed(client, *only)) == []
    assert await ids(narrowed(client, only[1], {"tags": ["blue"]})) == []
    assert await ids(narrowed(client, {"entities": {"volume": "*"}}, only[0]))
    assert await ids(narrowed(client, {"entities": {"compute": "*"}})) == []


async def test_of_another_account(
    client: Client, stranger: Client, volumes: tuple[Json, Json]
) -> None:
    """Whatever a restriction says: it only takes away."""
    child = narrowed(stranger, {"entities": {"volume": [volumes[0]["id"]]}})
    assert await ids(child) == []


async def test_streams(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    volumes: tuple[Json, Json],
) -> None:
    left, other = volumes
    child = narrowed(client, {"entities": {"volume": [left["id"]]}})
    query = "?action=volume_update"
    async with reading(running.url, child.token, query) as reader:
        begun = await reader.next()
        assert begun is not None
        for row in (other, left, other, left):
            await about(roost, account, row)
        found = [await reader.event() for _ in range(2)]
    async with reading(running.url, child.token, query, last=begun.id) as reader:
        found += [await reader.event() for _ in range(2)]
    assert {each.data["entity"]["id"] for each in found} == {left["id"]}


async def test_what_is_refused_says_why(client: Client, volumes: tuple[Json, Json]) -> None:
    child = narrowed(client, {"tags": ["blue"]})
    explained = await child.get("/profile/explain?method=GET&path=/account/events")
    assert explained["restricted_by"] is None
    assert refused(await child.send("GET", "/tags"), "tags")
