"""What events, grants, tags and tickets rely on holds for every kind that a group declares."""

import json

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.entities.kind import EntityKind, ResourceKind
from roost.core.entities.locks import lock_all
from roost.core.entities.queries import entity_sql, labels, records
from roost.core.entities.registry import Entities
from roost.resources.tags import queries as tags
from roost.resources.tags.bodies import CreateTag
from roost.web.registry import Endpoint, Registry
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.api.samples.paths import make_sample
from tests.support.client import Client
from tests.support.tags import labels as tag_labels

ENTITIES = Entities(GROUPS.entities)
RESOURCES = ENTITIES.resources()
ROUTER = Registry(GROUPS.endpoints).router
MISSING = 999_999_999
VARIANT = "mysql"
"""Of databases, in the samples."""

every = pytest.mark.parametrize("kind", RESOURCES, ids=lambda k: k.name)
every_grantable = pytest.mark.parametrize(
    "kind", [k for k in RESOURCES if k.grantable], ids=lambda k: k.name
)
every_taggable = pytest.mark.parametrize("kind", ENTITIES.taggable(), ids=lambda k: k.name)


def path_of(kind: EntityKind, entity_id: int) -> str:
    return kind.url(entity_id, "x", VARIANT).removeprefix("/v4")


def showing(kind: EntityKind) -> Endpoint:
    """What shows such an entity, whose path has a sample."""
    match = ROUTER.find(path_of(kind, 7))
    assert match is not None
    return match.methods["GET"]


@pytest.fixture
async def entity_id(kind: ResourceKind, client: Client, roost: Roost, account: Account) -> int:
    """One in the account."""
    shown = (await make_sample(showing(kind), client, roost, account))[-1]
    return int(str(shown).rpartition("/")[2])


@pytest.mark.spec("B events kinds", "B account events view")
async def test_events_link_to_what_they_are_about(
    client: Client, roost: Roost, account: Account
) -> None:
    for kind in GROUPS.entities:
        await make_sample(showing(kind), client, roost, account)
    for path in ("/account", "/account/settings", "/profile"):
        await client.put(path, {})
    seen = set()
    for event in (await client.get("/account/events?page_size=500"))["data"]:
        for entity in filter(None, (event["entity"], event["secondary_entity"])):
            seen.add(entity["type"])
            await client.get(entity["url"].removeprefix("/v4"))
    assert seen == {kind.name for kind in GROUPS.entities}


@every
async def test_bulk_lookups(
    kind: ResourceKind,
    entity_id: int,
    client: Client,
    roost: Roost,
    account: Account,
    new_account: NewAccount,
) -> None:
    store, other, ids = roost.store, await new_account(), {entity_id, MISSING}
    found = await labels(store, kind, account.id, ids)
    assert list(found) == [entity_id]
    assert await labels(store, kind, other.id, ids) == {}

    whole = await client.get(path_of(kind, entity_id))
    if kind.variant is not None:  # Things of all variants are told alike, by a list of their own.
        path = kind.path.replace("/{variant}", "").removesuffix("/{id}")
        (whole,) = (await client.get(path))["data"]
    (record,) = (await records(store, kind, account.id, ids)).items()
    assert (record[0], json.loads(record[1])) == (entity_id, whole)
    assert await records(store, kind, other.id, ids) == {}

    entity = f"select {entity_sql(kind, '$1::bigint')}"
    named = json.loads(await store.fetchval(entity, entity_id))
    assert named == kind.entity(entity_id, found[entity_id], VARIANT)
    assert await store.fetchval(entity, MISSING) is None


@pytest.mark.spec("A auth 4")
@every_grantable
async def test_grants_can_be_given(
    kind: ResourceKind, entity_id: int, client: Client, account: Account, new_user: NewUser
) -> None:
    user = await new_user(account, restricted=True)
    path = f"/account/users/{user.username}/grants"
    (entry,) = [e for e in (await client.get(path))[kind.name] if e["id"] == entity_id]
    assert entry["permissions"] is None
    wanted = {"id": entity_id, "permissions": "read_only"}
    held = await client.put(path, {kind.name: [wanted]})
    assert {**entry, **wanted} in held[kind.name]


@every_taggable
async def test_tags(
    kind: ResourceKind,
    entity_id: int,
    client: Client,
    roost: Roost,
    account: Account,
    new_account: NewAccount,
) -> None:
    path, other = path_of(kind, entity_id), await new_account()
    before = (await client.get(path))["tags"]
    ids = {entity_id, MISSING}

    async def tagged(account_id: int) -> list[tuple[str, int]]:
        rows = await roost.store.fetch(tags.tagged_sql(kind), account_id, "gold")
        return [(row["type"], row["id"]) for row in rows]

    async with roost.store.transaction() as db:
        assert await lock_all(db, kind, other.id, ids) == set()
        held = await lock_all(db, kind, account.id, ids)
        assert held == {entity_id}
        for _ in range(2):
            await tags.add(db, kind, held, "gold")
    assert (await client.get(path))["tags"] == [*before, "gold"]
    assert await tagged(account.id) == [(kind.name, entity_id)]
    assert await tagged(other.id) == []

    for account_id, left in ((other.id, [(kind.name, entity_id)]), (account.id, [])):
        async with roost.store.transaction() as db:
            await tags.remove(db, kind, account_id, "gold")
        assert await tagged(account.id) == left
    assert (await client.get(path))["tags"] == before


@pytest.mark.spec("B tags list", "B tags view", "B tags create")
@every_taggable
async def test_tags_of_entities_are_tags(
    kind: ResourceKind, entity_id: int, client: Client
) -> None:
    path = path_of(kind, entity_id)
    assert (await client.put(path, {"tags": ["gold", "blue"]}))["tags"] == ["gold", "blue"]
    assert {"gold", "blue"} <= set(await tag_labels(client))
    row = {"type": kind.name, "data": await client.get(path)}
    assert (await client.get("/tags/gold"))["data"] == [row]
    await client.delete("/tags/gold")
    assert (await client.get(path))["tags"] == ["blue"]
    if f"{kind.name}s" in CreateTag.model_fields:
        await client.post("/tags", {"label": "gold", f"{kind.name}s": [entity_id]})
        assert (await client.get(path))["tags"] == ["blue", "gold"]


@every_taggable
async def test_tags_are_indexed(kind: ResourceKind, roost: Roost) -> None:
    indexed = "select count(*) from pg_indexes where tablename = $1 and indexdef like $2"
    assert await roost.store.fetchval(indexed, kind.tags_table, "%USING gin (tags)") == 1


@pytest.mark.spec("B tags unrestricted", "B compute 1 tags")
@every_taggable
async def test_restricted_users_send_tags_back_as_they_are(
    kind: ResourceKind,
    entity_id: int,
    client: Client,
    nobody: Client,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    """As clients send whole records; they can neither set tags nor clear them."""
    path = path_of(kind, entity_id)
    await client.put(path, {"tags": ["gold", "blue"]})
    user = await new_user(account, restricted=True)
    grants = {kind.name: [{"id": entity_id, "permissions": "read_write"}]}
    await client.put(f"/account/users/{user.username}/grants", grants)
    restricted = nobody.as_user(await new_token(user))
    row = await restricted.get(path)
    back = await restricted.put(path, row)
    assert (back["tags"], back["label" if "label" in row else "domain"]) == (
        ["gold", "blue"],
        row["label" if "label" in row else "domain"],
    )
    for sent in (["blue", "gold"], ["gold", "gold", "blue"], None):
        assert (await restricted.put(path, {"tags": sent}))["tags"] == ["gold", "blue"]
    for sent in ([], ["gold"], ["gold", "blue", "new-tag"], ["Gold", "blue"]):
        answer = await restricted.send("PUT", path, {"tags": sent})
        assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    assert (await client.get(path))["tags"] == ["gold", "blue"]
    assert await tag_labels(client) == ["blue", "gold"]


@pytest.mark.spec("B tags create")
@every_taggable
async def test_at_most_a_hundred_tags(kind: ResourceKind, entity_id: int, client: Client) -> None:
    path, field = path_of(kind, entity_id), f"{kind.name}s"
    hundred = [f"tag-{number}" for number in range(100)]
    assert (await client.put(path, {"tags": hundred}))["tags"] == hundred
    answer = await client.send("PUT", path, {"tags": [*hundred, "one-more"]})
    assert (answer.status, answer.problems) == (400, [("tags", "Length must be 0-100 items")])
    if field not in CreateTag.model_fields:
        return
    answer = await client.send("POST", "/tags", {"label": "one-more", field: [entity_id]})
    assert (answer.status, answer.problems) == (400, [(f"{field}[0]", "Can have at most 100 tags")])
    await client.post("/tags", {"label": "tag-7", field: [entity_id]})
    assert (await client.get(path))["tags"] == hundred
    assert "one-more" not in await tag_labels(client)
