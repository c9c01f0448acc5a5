"""Scopes: what tokens may hold and what they allow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.scopes import AREAS, Scopes

SCOPES = st.builds(
    "{}:{}".format, st.sampled_from(AREAS), st.sampled_from(["read_only", "read_write"])
)


@pytest.mark.parametrize(
    ("text", "wanted", "allowed"),
    [
        ("*", ("computes:read_write", "account:read_write"), True),
        ("computes:read_write", ("computes:read_only",), True),
        ("computes:read_only", ("computes:read_write",), False),
        ("computes:read_only", ("volumes:read_only",), False),
        ("computes:read_only", (), True),
        ("volumes:read_write,computes:read_write", ("volumes:read_write",), True),
        ("volumes:read_write", ("volumes:read_write", "computes:read_write"), False),
        ("computes:read_only computes:read_write", ("computes:read_write",), True),
    ],
)
def test_allow(text: str, wanted: tuple[str, ...], allowed: bool) -> None:
    assert Scopes.parse(text).allow(wanted) is allowed


@pytest.mark.parametrize(
    "text", ["", " ", "* *", "computes", "computes:", "computes:write", "x:read_only", "*:*"]
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="scope"):
        Scopes.parse(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*", "*"),
        (" * ", "*"),
        ("computes:read_only", "computes:read_only"),
        ("computes:read_only,events:read_only", "computes:read_only events:read_only"),
        ("computes:read_only, events:read_only", "computes:read_only events:read_only"),
        (" computes:read_only \t events:read_only\n", "computes:read_only events:read_only"),
        ("ips:read", "ips:read"),
    ],
)
def test_forms(text: str, shown: str) -> None:
    assert Scopes.parse(text).text == shown


@pytest.mark.parametrize(
    ("held", "other", "included"),
    [
        ("*", "*", True),
        ("*", "computes:read_write", True),
        ("computes:read_write", "*", False),
        ("computes:read_write", "computes:read_only", True),
        ("computes:read_only", "computes:read_write", False),
        ("computes:read_write events:read_only", "events:read_only", True),
        ("computes:read_write events:read_only", "events:read_only volumes:read_only", False),
        ("ips:read", "ips:read_only", True),
        (" ".join(f"{area}:read_write" for area in AREAS), "*", False),
    ],
)
def test_include(held: str, other: str, included: bool) -> None:
    assert Scopes.parse(held).include(Scopes.parse(other)) is included


@pytest.mark.parametrize(
    ("wanted", "smallest"),
    [
        ((), None),
        (("events:read_only", "events:read_only"), "events:read_only"),
        (("events:read_only", "events:read_write"), "events:read_write"),
        (("volumes:read_write", "computes:read_only"), "computes:read_only volumes:read_write"),
    ],
)
def test_smallest(wanted: tuple[str, ...], smallest: str | None) -> None:
    scopes = Scopes.smallest(wanted)
    assert (scopes and scopes.text) == smallest


@given(st.lists(SCOPES, min_size=1, max_size=8))
def test_the_smallest_scopes_allow_what_is_wanted_and_no_area_more(wanted: list[str]) -> None:
    smallest = Scopes.smallest(wanted)
    assert smallest is not None
    assert smallest.allow(tuple(wanted))
    assert Scopes.parse(" ".join(wanted)).include(smallest)


@given(st.lists(SCOPES, min_size=1, max_size=8))
def test_a_token_allows_what_it_was_given(scopes: list[str]) -> None:
    parsed = Scopes.parse(" ".join(scopes))
    assert parsed.allow(tuple(scopes))
    assert parsed.text == " ".join(scopes)


@pytest.mark.spec("A auth 2", "A auth 2 areas", "B auth 2")
@pytest.mark.parametrize(
    "area",
    [
        *("databases", "volumes", "images", "object_storage", "account"),
        *("child_account", "events", "ips", "domains", "computes"),
    ],
)
def test_areas(area: str) -> None:
    assert Scopes.parse(f"{area}:read_write").allow((f"{area}:read_only", f"{area}:read_write"))
    assert not Scopes.parse(f"{area}:read_only").allow((f"{area}:read_write",))
