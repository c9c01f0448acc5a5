"""The kinds of entities that the groups declare (spec B, Tags and Events; reference: Grants)."""

import pytest

from roost.app.groups import ENDPOINT_MODULES, ENTITY_KINDS
from roost.resources.compute.entity import COMPUTE
from roost.resources.entities.kind import EntityKind, ResourceKind
from roost.resources.entities.registry import Entities
from roost.resources.users.kinds import KINDS
from roost.web.grants import Read, Write
from roost.web.registry import Registry

ENTITIES = Entities(ENTITY_KINDS)
REGISTRY = Registry(ENDPOINT_MODULES)
RESOURCES = ENTITIES.resources()

TAG = EntityKind(name="tag", path="/tags/{label}")

every = pytest.mark.parametrize("kind", ENTITY_KINDS, ids=lambda k: k.name)
every_resource = pytest.mark.parametrize("kind", RESOURCES, ids=lambda k: k.name)


def test_a_kind_is_declared_once() -> None:
    with pytest.raises(ValueError, match="two kinds of entities are named compute"):
        Entities((COMPUTE, TAG, COMPUTE))


def test_lookups() -> None:
    entities = Entities((TAG, COMPUTE))
    assert list(entities) == [TAG, COMPUTE]
    assert entities.resources() == entities.taggable() == (COMPUTE,)
    assert entities.grantable("compute") is entities.ticketed("compute_id") is COMPUTE
    assert entities.grantable("tag") is None
    assert entities.grantable("vpc") is None
    assert entities.ticketed("lkecluster_id") is None


@pytest.mark.parametrize(
    ("kind", "entity_id", "label", "url"),
    [
        (COMPUTE, 100001, "web", "/v4/compute/instances/100001"),
        (EntityKind(name="profile", path="/profile"), None, "ada", "/v4/profile"),
        (EntityKind(name="image", path="/images/{id}"), "a/b", "a/b", "/v4/images/a/b"),
        (TAG, "a b", "a b", "/v4/tags/a%20b"),
        (TAG, "{id}?", "{id}?", "/v4/tags/%7Bid%7D%3F"),
    ],
)
def test_entities(kind: EntityKind, entity_id: int | str | None, label: str, url: str) -> None:
    entity = {"id": entity_id, "label": label, "type": kind.name, "url": url}
    assert kind.entity(entity_id, label) == entity


@every
def test_an_endpoint_shows_it(kind: EntityKind) -> None:
    match = REGISTRY.router.find(kind.url(7, "x").removeprefix("/v4"))
    assert match is not None
    assert "GET" in match.methods


@every_resource
def test_a_declaration_is_whole(kind: ResourceKind) -> None:
    listing = kind.listing
    assert "{id}" in kind.path
    assert "$2" not in listing.scope
    assert listing.granted in (None, (f"'{kind.name}'", listing.key))
    assert (kind.tags_table is not None) == ("tags" in listing.columns)


def test_grants_are_on_declared_kinds() -> None:
    granted = {kind.name for kind in RESOURCES if kind.grantable}
    assert granted <= set(KINDS)
    needed = {e.grant.kind for e in REGISTRY if isinstance(e.grant, Read | Write)}
    assert needed <= granted
