"""Changes of records between revisions: there and back, and whatever is sent."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.revisions import FIRST, SECOND, SPOKEN

from roost.app.groups import GROUPS
from roost.web.dry_run import MEDIA_TYPE
from roost.web.registry import Registry
from roost.web.reply import Reply
from roost.web.revisions.changes import Added, Change, Moved, Removed, Reworded, Split
from roost.web.revisions.documents import build_document_of
from roost.web.revisions.fields import Record
from roost.web.revisions.plans import Changes, Plan, plan_of
from roost.web.revisions.revision import Revision, step_back
from roost.web.revisions.revisions import Revisions
from roost.web.revisions.spoken import Spoken
from roost.web.translation import Json, rewrite_messages

SPLIT = Split(
    "at",
    ("host", "port"),
    lambda value: tuple(value.split(":", 1)) if isinstance(value, str) and ":" in value else None,
    lambda values: ":".join(str(each) for each in values),
    {"type": "string"},
)
CHANGES: tuple[Change, ...] = (
    Moved("name", "label"),
    Moved("size", "specs.disk"),
    Moved("deep.er", "flat"),
    SPLIT,
    Added("fresh"),
    Removed("old", lambda record: record.get("label"), {"type": "string"}),
    Reworded("state", {"on": "active", "off": "inactive"}, {"paused": "off"}),
)
PLAN = Plan(CHANGES, {})
NEWER: Record = {
    "label": "x",
    "specs": {"disk": 5, "memory": 1},
    "flat": 3,
    "host": "h",
    "port": "1",
    "fresh": True,
    "state": "active",
}
OLDER: Record = {
    "name": "x",
    "specs": {"memory": 1},
    "size": 5,
    "deep": {"er": 3},
    "at": "h:1",
    "old": "x",
    "state": "on",
}
NAMES = ("name", "label", "size", "specs", "deep", "flat", "at", "host", "fresh", "old", "state")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["on", "active", "a:b", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*NAMES, "er", "disk"]), inner, max_size=6)
    ),
    max_leaves=12,
)


def test_there_and_back() -> None:
    record = deepcopy(NEWER)
    PLAN.down(record)
    assert record == OLDER
    PLAN.up(record)
    assert record == {name: value for name, value in NEWER.items() if name != "fresh"}


@given(ANYTHING)
def test_whatever_is_sent(value: Json) -> None:
    """It is somebody else's to refuse, and no newer name of it is left but by an older one."""
    PLAN.up(deepcopy(value))
    said = deepcopy(value)
    PLAN.down(said)


@given(st.dictionaries(st.sampled_from(["label", "flat", "host", "port", "fresh"]), ANYTHING))
def test_newer_names_mean_nothing(record: dict[str, Json]) -> None:
    PLAN.up(record)
    assert record == {}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("name", "label"),
        ("size", "specs.disk"),
        ("deep.er", "flat"),
        ("deep.er[2].x", "flat[2].x"),
        ("specs.memory", "specs.memory"),
        ("names", "names"),
    ],
)
def test_names(older: str, newer: str) -> None:
    assert PLAN.name_up(older) == newer
    assert PLAN.name_down(newer) == older


@pytest.mark.parametrize("name", ["label", "label.x", "specs.disk", "flat", "at", "port", "old"])
def test_names_that_cannot_be_asked_for(name: str) -> None:
    assert PLAN.name_up(name) is None


def test_parts_of_a_split_field_are_named_as_it_was() -> None:
    assert [PLAN.name_down(each) for each in ("host", "port")] == ["at", "at"]


@pytest.mark.parametrize(
    ("word", "said"),
    [("on", "active"), ("off", "inactive"), ("active", "active?"), ("paused", "paused?"), (5, 5)],
)
def test_words(word: Json, said: Json) -> None:
    record: Record = {"state": word}
    PLAN.up(record)
    assert record == {"state": said}


def test_words_of_lists_and_those_that_were_not() -> None:
    record: Record = {"state": ["active", "paused", 5, "other"]}
    PLAN.down(record)
    assert record["state"] == ["on", "off", 5, "other"]


def test_what_would_be_paid_is_told_as_it_was() -> None:
    """Whatever the operation answers when it does something."""
    changes: Changes = {"DryRunRow": (Moved("an_hour", "hourly"),)}
    now = Revision("2026-01-01", "", {**changes, "VolumeRow": (Moved("hourly", "label"),)})
    revisions = Revisions(Registry(GROUPS.endpoints), (SPOKEN[0], now))
    spoken = Spoken(FIRST, revisions.steps(FIRST)[0])
    create = next(each for each in revisions.registry if each.name == "create_volume")
    told = Reply(200, b'{"hourly":1,"label":"x"}', content_type=MEDIA_TYPE.encode())
    assert spoken.reply(create, told).body == b'{"label":"x","an_hour":1}'


def test_messages_without_a_record_are_left_alone() -> None:
    piece = b'id: 1\nevent: reset\ndata: {}\n\nid: 2\ndata: {"a":1}\n\n'
    said = rewrite_messages(lambda record: record.replace(b"1", b"2") + b" ", piece)
    assert said == b'id: 1\nevent: reset\ndata: {}\n\nid: 2\ndata: {"a":2} \n\n'


def test_what_is_nested_too_deep_is_left_to_the_api() -> None:
    revisions = Revisions(Registry(GROUPS.endpoints), SPOKEN)
    spoken = Spoken(FIRST, revisions.steps(FIRST)[0])
    endpoints = {each.name: each for each in revisions.registry}
    for depth in (100, 300, 1000):
        sent = b'{"label":' + b"[" * depth + b"]" * depth + b"}"
        assert spoken.body(endpoints["create_volume"], sent) == sent
        said = spoken.headers(endpoints["list_volumes"], {b"x-filter": sent})
        assert said == {b"x-filter": sent}


def test_records_are_found_wherever_they_stand() -> None:
    schemas: dict[str, dict[str, Json]] = {
        "Inner": {"type": "object", "properties": {"label": {"type": "string"}}},
        "Outer": {
            "type": "object",
            "properties": {
                "one": {"anyOf": [{"$ref": "#/components/schemas/Inner"}, {"type": "null"}]},
                "many": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}},
                "named": {
                    "type": "object",
                    "additionalProperties": {"$ref": "#/components/schemas/Inner"},
                },
                "other": {"type": "string"},
            },
        },
    }
    changes = {"Inner": (Moved("name", "label"),)}
    plan = plan_of({"$ref": "#/components/schemas/Outer"}, schemas, changes)
    assert plan is not None
    inner: Json = {"label": "x"}
    value: Json = {"one": inner, "many": [inner, None], "named": {"a": inner}, "other": "label"}
    said = deepcopy(value)
    plan.down(said)
    assert said == {
        "one": {"name": "x"},
        "many": [{"name": "x"}, None],
        "named": {"a": {"name": "x"}},
        "other": "label",
    }
    assert plan.name_down("many[1].label") == "many[1].name"
    assert plan.name_down("named.a.label") == "named.a.name"
    assert plan_of({"type": "string"}, schemas, changes) is None


def test_what_is_not_there_cannot_be_changed() -> None:
    endpoints = Registry(GROUPS.endpoints)
    for changes in ({"NoRow": (Moved("a", "b"),)}, {"VolumeRow": (Moved("a", "b"),)}):
        revisions = Revisions(endpoints, (SPOKEN[0], Revision("2026-01-01", "", changes)))
        with pytest.raises(ValueError, match="2026-01-01"):
            revisions.steps(FIRST)
    assert step_back(SPOKEN[0], endpoints, {}).records == {}


def test_documents_are_side_by_side() -> None:
    revisions = Revisions(Registry(GROUPS.endpoints), SPOKEN)
    first, second = (build_document_of(revisions, date).decode() for date in (FIRST, SECOND))
    for said in (first, second):
        assert "x-component" not in said
        assert '"hardware_type":{' not in said
    assert '"title":{"type":"string"' in first
    assert "| `title` | `+contains` `+neq` |" in first
    assert "| `name` | `+contains` `+neq` |" in second
    assert '"x-revision":"2024-02-29"' in first
