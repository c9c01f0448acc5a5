"""Scopes: what tokens may hold and what they allow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.web.scopes import AREAS, Scopes

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


@given(st.lists(SCOPES, min_size=1, max_size=8))
def test_a_token_allows_what_it_was_given(scopes: list[str]) -> None:
    parsed = Scopes.parse(" ".join(scopes))
    assert parsed.allow(tuple(scopes))
    assert parsed.text == " ".join(scopes)
