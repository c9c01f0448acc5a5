"""Narrowed tokens: a child can never do what its parent can't, whatever is done to its text."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.narrowing import Restriction, narrow
from roost.core.narrowing.chain import MAX_LENGTH, MAX_LINKS, add_link, public_key, read
from roost.core.narrowing.restrictions import narrowing_of, parse, shown

TOKEN = "ab" * 32
KEY = public_key(TOKEN)
OPERATIONS = ("list_volumes", "view_volume", "create_volume", "delete_volume")
METHODS = ("GET", "POST", "PUT", "DELETE")
CLIENTS = ("127.0.0.1", "::ffff:10.1.2.3", "10.1.2.3", "192.0.2.7", "2001:db8::1", "local")

_many = st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=3)
restrictions = st.fixed_dictionaries(
    {},
    optional={
        "operations": _many,
        "methods": st.lists(st.sampled_from(METHODS), min_size=1, max_size=3),
        "read_only": st.just(True),
        "networks": st.lists(
            st.sampled_from(("10.0.0.0/8", "127.0.0.0/8", "2001:db8::/32", "0.0.0.0/0", "::/0")),
            min_size=1,
            max_size=2,
        ),
        "expires": st.sampled_from(("2026-01-01T00:00:00", "2030-01-01T00:00:00")),
        "label_prefix": st.sampled_from(("ci-", "ci")),
        "tags": st.just(["ci"]),
        "entities": st.just({"volume": [100_001], "compute": "*"}),
    },
).filter(bool)
requests = st.tuples(
    st.sampled_from(OPERATIONS), st.sampled_from(METHODS), st.sampled_from(CLIENTS)
)


def made(restriction: object, token: str = TOKEN) -> str:
    return narrow(token, parse(json.dumps(restriction)))


@settings(max_examples=60, deadline=None)
@given(st.lists(restrictions, min_size=1, max_size=4), restrictions, requests)
def test_a_child_can_never_do_what_its_parent_cannot(
    given_: list[object], more: object, request: tuple[str, str, str]
) -> None:
    text = TOKEN
    for each in given_:
        text = made(each, text)
    parent, child = (narrowing_of(read(each)) for each in (text, made(more, text)))
    if parent.refuses(*request) is not None:
        assert child.refuses(*request) is not None
    if parent.expiry is not None:
        assert child.expiry is not None
        assert child.expiry <= parent.expiry
    if parent.of_entities() is not None:
        assert child.of_entities() is not None
    assert child.restrictions[:-1] == parent.restrictions


@settings(max_examples=60, deadline=None)
@given(st.permutations([{"read_only": True}, {"tags": ["ci"]}, {"networks": ["10.0.0.0/8"]}]))
def test_order_does_not_matter_for_what_is_allowed(order: list[object]) -> None:
    text = TOKEN
    for each in order:
        text = made(each, text)
    found = narrowing_of(read(text))
    assert read(text).is_of(KEY)
    assert found.refuses("view_volume", "GET", "10.0.0.1") is None
    assert found.refuses("view_volume", "GET", "11.0.0.1") == "networks"
    assert found.refuses("delete_volume", "DELETE", "10.0.0.1") == "read_only"


def is_good(text: str) -> bool:
    try:
        return read(text).is_of(KEY)
    except ValueError:
        return False


TWICE = made({"tags": ["ci"]}, made({"read_only": True}))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(TWICE) - 1), st.characters(min_codepoint=33, max_codepoint=126))
def test_no_changed_character_passes(position: int, character: str) -> None:
    changed = TWICE[:position] + character + TWICE[position + 1 :]
    assert is_good(changed) == (changed == TWICE)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(TWICE.split(".")), min_size=5, max_size=11))
def test_no_other_arrangement_of_the_parts_passes(parts: list[str]) -> None:
    text = ".".join(parts)
    assert is_good(text) == (text == TWICE)


def test_a_link_cannot_be_taken_away() -> None:
    """Neither the last one, nor one from between."""
    once = made({"read_only": True})
    word, handle, *links, seed = made({"tags": ["ci"]}, once).split(".")
    assert is_good(once)
    assert not is_good(".".join((word, handle, *links[:3], seed)))
    assert not is_good(".".join((word, handle, *links[3:], seed)))
    assert not is_good(".".join((word, handle, seed)))


def test_a_link_cannot_be_taken_over_from_another_token() -> None:
    other = narrow("cd" * 32, Restriction(read_only=True)).split(".")
    mine = made({"read_only": True}).split(".")
    assert not is_good(".".join((*mine[:2], *other[2:])))
    assert not is_good(".".join(other))


def test_the_restriction_of_a_link_cannot_be_replaced() -> None:
    parts = made({"read_only": True}).split(".")
    parts[2] = urlsafe_b64encode(b'{"tags":["ci"]}').decode().rstrip("=")
    assert not is_good(".".join(parts))


def test_another_spelling_of_the_same_bytes_is_refused() -> None:
    """Two texts of one token would be counted as two."""
    text = made({"read_only": True})
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    same = [text[:-1] + each for each in last if each != text[-1]]
    end = text.rpartition(".")[2] + "="
    alike = [
        s for s in same if urlsafe_b64decode(s.rpartition(".")[2] + "=") == urlsafe_b64decode(end)
    ]
    assert alike
    assert not any(map(is_good, [*alike, text + "=", text + " ", " " + text]))


def test_the_token_is_not_in_what_is_made_of_it() -> None:
    text = made({"read_only": True})
    assert TOKEN not in text
    assert all(TOKEN.encode() not in link.signed for link in read(text).links)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "Value error, a restriction must say something"),
        ('{"read_only": null}', "Value error, a restriction must say something"),
        ('{"read_only": false}', "read_only: Input should be True"),
        ('{"frobnicate": 1}', "frobnicate is not known"),
        ('{"read_only": true, "Read_only": true}', "Read_only is not known"),
        ('{"methods": ["PATCH"]}', "methods.0: Input should be 'GET', 'POST', 'PUT' or 'DELETE'"),
        ('{"operations": []}', "operations: Tuple should have at least 1 item"),
        ('{"networks": ["10.0.0.1/8"]}', "networks"),
        ('{"expires": "tomorrow"}', "expires: String should match pattern"),
        ('{"expires": "2026-02-30T00:00:00"}', "Value error, day is out of range"),
        ('{"entities": {"volume": []}}', "entities.volume"),
        ('{"entities": {"volume": ["100001"]}}', "entities.volume"),
        ('{"entities": {}}', "entities"),
        ('{"label_prefix": ""}', "label_prefix"),
        (r'{"label_prefix": "ci\u0000"}', "label_prefix: String should match pattern"),
        (r'{"tags": ["\u0000"]}', "tags.0: String should match pattern"),
        ("[]", "Input should be an object"),
        ("no", "Invalid JSON"),
        ("\x00", "Invalid JSON"),
    ],
)
def test_what_is_no_restriction(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + reason.split("'")[0]):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "roost1.", "roost1..", "roost1....", "roost1.a.b.c.d.e", "roost2" + TWICE[6:]),
        *(TWICE + ".", TWICE + ".a", TWICE.rpartition(".")[0], TWICE.replace(".", ""), "é" + TWICE),
        *(TWICE[:-1], "roost1." + "A" * MAX_LENGTH, TOKEN, TWICE[:7] + "é" + TWICE[8:]),
    ],
)
def test_texts_that_are_no_narrowed_tokens(text: str) -> None:
    assert not is_good(text)
    with pytest.raises(ValueError, match=r"."):
        read(text)
    if text.startswith("roost1."):
        with pytest.raises(ValueError, match=r"."):
            add_link(text, b"{}")


def test_bounds() -> None:
    text = TOKEN
    for _ in range(MAX_LINKS):
        text = made({"read_only": True}, text)
    assert len(text) <= MAX_LENGTH
    assert len(list(shown(text))) == MAX_LINKS
    with pytest.raises(ValueError, match="16 restrictions"):
        made({"read_only": True}, text)
    with pytest.raises(ValueError, match="6144 characters"):
        made({"operations": ["x" * 100] * 100})
