"""What events, grants, tags and tickets rely on holds for every kind that a group declares."""

import json

import pytest

from roost.app.groups import ENDPOINT_MODULES, ENTITY_KINDS
from roost.app.roost import Roost
from roost.resources.entities.kind import EntityKind, ResourceKind
from roost.resources.entities.queries import entity_sql, labels, records
from roost.resources.entities.registry import Entities
from roost.resources.tags import queries as tags
from roost.web.registry import Registry
from roost.web.routing import path_params
from tests.api.conftest import Account, NewAccount, NewUser
from tests.api.samples import SAMPLES
from tests.support.client import Client

ENTITIES = Entities(ENTITY_KINDS)
RESOURCES = ENTITIES.resources()
ROUTER = Registry(ENDPOINT_MODULES).router
MISSING = 999_999_999

every = pytest.mark.parametrize("kind", RESOURCES, ids=lambda k: k.name)
every_grantable = pytest.mark.parametrize(
    "kind", [k for k in RESOURCES if k.grantable], ids=lambda k: k.name
)
every_taggable = pytest.mark.parametrize("kind", ENTITIES.taggable(), ids=lambda k: k.name)


def parameter(kind: EntityKind) -> str | None:
    """The parameter of the endpoint that shows such an entity, which has a sample."""
    match = ROUTER.find(kind.url(7, "x").removeprefix("/v4"))
    assert match is not None
    return next(reversed(path_params(match.methods["GET"].path)), None)


@pytest.fixture
async def entity_id(kind: ResourceKind, client: Client, roost: Roost, account: Account) -> int:
    """One in the account."""
    name = parameter(kind)
    assert name is not None
    return int(await SAMPLES[name].make(client, roost, account))


@pytest.mark.spec("B events kinds", "B account events")
async def test_events_link_to_what_they_are_about(
    client: Client, roost: Roost, account: Account
) -> None:
    for kind in ENTITY_KINDS:
        name = parameter(kind)
        if name is not None:
            await SAMPLES[name].make(client, roost, account)
    for path in ("/account", "/account/settings", "/profile"):
        await client.put(path, {})
    seen = set()
    for event in (await client.get("/account/events?page_size=500"))["data"]:
        for entity in filter(None, (event["entity"], event["secondary_entity"])):
            seen.add(entity["type"])
            await client.get(entity["url"].removeprefix("/v4"))
    assert seen == {kind.name for kind in ENTITY_KINDS}


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

    whole = await client.get(kind.url(entity_id).removeprefix("/v4"))
    (record,) = (await records(store, kind, account.id, ids)).items()
    assert (record[0], json.loads(record[1])) == (entity_id, whole)
    assert await records(store, kind, other.id, ids) == {}

    entity = f"select {entity_sql(kind, '$1::bigint')}"
    named = json.loads(await store.fetchval(entity, entity_id))
    assert named == kind.entity(entity_id, found[entity_id])
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
    path, other = kind.url(entity_id).removeprefix("/v4"), await new_account()
    before = (await client.get(path))["tags"]
    ids = {entity_id, MISSING}

    async def tagged(account_id: int) -> list[tuple[str, int]]:
        rows = await roost.store.fetch(tags.tagged_sql(kind), account_id, "gold")
        return [(row["type"], row["id"]) for row in rows]

    async with roost.store.transaction() as db:
        assert await tags.lock(db, kind, other.id, ids) == set()
        held = await tags.lock(db, kind, account.id, ids)
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


@every_taggable
async def test_tags_are_indexed(kind: ResourceKind, roost: Roost) -> None:
    indexed = "select count(*) from pg_indexes where tablename = $1 and indexdef like $2"
    assert await roost.store.fetchval(indexed, kind.tags_table, "%USING gin (tags)") == 1
