"""The kinds of entities that the groups declare (spec B, Tags and Events; reference: Grants)."""

import pytest

from roost.app.groups import GROUPS
from roost.core.entities.kind import EntityKind, ResourceKind
from roost.core.entities.registry import Entities
from roost.resources.compute.entity import COMPUTE
from roost.resources.tags.queries import TAG
from roost.resources.users.rules import KINDS
from roost.web.grants import Grant, Listed, Read, Write, entity_number
from roost.web.registry import Method, Page, Registry, endpoint
from roost.web.routing import plain_path

ENTITIES = Entities(GROUPS.entities)
REGISTRY = Registry(GROUPS.endpoints)
RESOURCES = ENTITIES.resources()

every = pytest.mark.parametrize("kind", GROUPS.entities, ids=lambda k: k.name)
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
        (TAG, "a/b/", "a/b/", "/v4/tags/a%2Fb%2F"),
    ],
)
def test_entities(kind: EntityKind, entity_id: int | str | None, label: str, url: str) -> None:
    entity = {"id": entity_id, "label": label, "type": kind.name, "url": url}
    assert kind.entity(entity_id, label) == entity


@every
def test_an_endpoint_shows_it(kind: EntityKind) -> None:
    for variant in ("mysql", "postgresql") if "{variant}" in kind.path else ("",):
        match = REGISTRY.router.find(kind.url(7, "x", variant).removeprefix("/v4"))
        assert match is not None
        assert "GET" in match.methods


@every_resource
def test_a_declaration_is_whole(kind: ResourceKind) -> None:
    listing = kind.listing
    assert "{id}" in kind.path
    assert (kind.variant is not None) == ("{variant}" in kind.path)
    assert "$2" not in listing.scope
    assert listing.granted in (None, (f"'{kind.name}'", listing.key))
    assert (kind.tags_table is not None) == ("tags" in listing.columns)


def test_grants_are_on_declared_kinds() -> None:
    granted = {kind.name for kind in RESOURCES if kind.grantable}
    assert granted <= set(KINDS)
    needed = {e.grant.kind for e in REGISTRY if isinstance(e.grant, Read | Write | Listed)}
    assert needed <= granted


def test_grants_are_on_what_the_path_names() -> None:
    """The parameter names an entity of that kind: its endpoint has it at the same place."""
    on_entities = [e for e in REGISTRY if isinstance(e.grant, Read | Write)]
    assert len(on_entities) > 50
    for each in on_entities:
        assert isinstance(each.grant, Read | Write)
        kind = ENTITIES.grantable(each.grant.kind)
        assert kind is not None
        shown = kind.path.replace("private/", "").replace("{id}", f"{{{each.grant.parameter}}}")
        assert plain_path(each.path).startswith(shown) or each.grant.of is not None


def test_lists_show_what_is_granted() -> None:
    for each in REGISTRY:
        if isinstance(each.grant, Listed):
            assert isinstance(each.returns, Page)


@pytest.mark.parametrize(
    ("method", "path", "grant", "problem"),
    [
        ("GET", "/images", Read("image"), "has no parameter imageId"),
        ("GET", "/images/{id:path}", Read("image"), "has no parameter imageId"),
        ("POST", "/volumes", Write("volume"), "has no parameter volumeId"),
        ("GET", "/databases/{instanceId:int}", Read("database"), "has no parameter databaseId"),
        ("GET", "/databases/{id:int}", Read("database", of="instanceId"), "no parameter inst"),
        ("POST", "/volumes", Listed("volume"), "is no list"),
        ("GET", "/volumes/{volumeId:int}", Listed("volume"), "is no list"),
    ],
)
def test_a_grant_that_does_not_fit_its_path_is_refused(
    method: Method, path: str, grant: Grant, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        endpoint(method, path, grant=grant)


def test_a_parameter_of_another_name_is_declared() -> None:
    endpoint("GET", "/databases/{instanceId:int}", grant=Read("database", of="instanceId"))
    endpoint("GET", "/images/{imageId:path}", grant=Read("image"))


@pytest.mark.parametrize(
    ("named", "number"),
    [
        (15, 15),
        ("private/15", 15),
        ("private/15/16", None),
        ("roost/debian12", None),
        ("15", None),
        ("private/", None),
        ("private/\u0661", None),
        ("private/" + "9" * 19, None),
        ("", None),
    ],
)
def test_names_of_entities(named: int | str, number: int | None) -> None:
    assert entity_number(named) == number
