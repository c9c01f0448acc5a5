"""Request bodies: what is read, and how refusals are worded."""

from typing import Annotated, Literal

import pytest

from roost.errors import ApiError
from roost.services import Services
from roost.web.bodies import Body, parse_body
from roost.web.fields import Between, Length, Pattern


class Part(Body):
    name: Annotated[str, Length(1, 3)]
    note: str | None = "default"


class Whole(Body):
    label: Annotated[str, Length(3, 5), Pattern("[a-z]+", "Must be letters")]
    size: Annotated[int, Between(10, 20)] = 10
    kind: Literal["a", "b"] = "a"
    parts: list[Part] = []
    flag: bool = False


def problems(raw: bytes) -> list[tuple[str | None, str]]:
    with pytest.raises(ApiError) as caught:
        parse_body(Whole, raw, Services())
    assert caught.value.status == 400
    return [(problem.field, problem.reason) for problem in caught.value.problems]


def test_reads_what_was_sent() -> None:
    raw = b'{"label": "abc", "size": 20, "parts": [{"name": "x", "note": null}], "extra": 1}'
    body = parse_body(Whole, raw, Services())
    assert body.model_dump() == {
        "label": "abc",
        "size": 20,
        "kind": "a",
        "parts": [{"name": "x", "note": None}],
        "flag": False,
    }


def test_objects_of_very_many_fields_are_refused_before_they_are_looked_at() -> None:
    many = b", ".join(b'"k%d": null' % n for n in range(1000))
    assert problems(b"{" + many + b', "label": 5}') == [(None, "Must have at most 1000 fields")]
    part = b'{"label": "abc", "parts": [{"name": "x", ' + many + b"}]}"
    assert problems(part) == [("parts[0]", "Must have at most 1000 fields")]
    just = many.removesuffix(b', "k999": null')
    assert parse_body(Whole, b'{"label": "abc", ' + just + b"}", Services()).label == "abc"


def test_null_means_omitted_unless_the_field_is_nullable() -> None:
    body = parse_body(Whole, b'{"label": "abc", "size": null, "kind": null}', Services())
    assert (body.size, body.kind) == (10, "a")
    assert problems(b'{"label": null}') == [("label", "label is required")]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", [("label", "label is required")]),
        (b"{}", [("label", "label is required")]),
        (b"{", [(None, "Invalid JSON")]),
        (b'{"label": NaN}', [(None, "Invalid JSON")]),
        (b'{"label": "\xff"}', [("label", "Must be valid UTF-8")]),
        (b'{"label": "\\ud800"}', [("label", "Must be valid UTF-8")]),
        (b'{"parts": [{"name": "\xc3"}]}', [("parts[0].name", "Must be valid UTF-8")]),
        (b'{"label": "a\0c"}', [("label", "Must not contain NUL characters")]),
        (b'{"label": "a\nc"}', [(None, "Invalid JSON")]),
        (b'{"lab\xffel": "\xff"}', [(None, "Invalid JSON")]),
        (b'{"label": "\xff"', [(None, "Invalid JSON")]),
        (
            b'{"label": "\xff", "parts": ' + b"[" * 5000 + b"]" * 5000 + b"}",
            [(None, "Invalid JSON")],
        ),
        (b"[" * 5000, [(None, "Invalid JSON")]),
        (b"[]", [(None, "The body must be a JSON object")]),
        (b'"text"', [(None, "The body must be a JSON object")]),
        (b'{"label": "ab"}', [("label", "Length must be 3-5 characters")]),
        (b'{"label": "abcdef"}', [("label", "Length must be 3-5 characters")]),
        (b'{"label": "ABC"}', [("label", "Must be letters")]),
        (b'{"label": 3}', [("label", "Must be a string")]),
        (b'{"label": "a\\u0000c"}', [("label", "Must not contain NUL characters")]),
        (b'{"label": "abc", "size": 9}', [("size", "Must be 10-20")]),
        (b'{"label": "abc", "size": "12"}', [("size", "Must be an integer")]),
        (b'{"label": "abc", "size": 12.5}', [("size", "Must be an integer")]),
        (b'{"label": "abc", "size": true}', [("size", "Must be an integer")]),
        (b'{"label": "abc", "size": 99999999999999999999}', [("size", "Must be an integer")]),
        (b'{"label": "abc", "kind": "c"}', [("kind", "Must be one of a, b")]),
        (b'{"label": "abc", "flag": 1}', [("flag", "Must be true or false")]),
        (b'{"label": "abc", "parts": {}}', [("parts", "Must be an array")]),
        (b'{"label": "abc", "parts": [5]}', [("parts[0]", "Must be an object")]),
        (
            b'{"label": "abc", "parts": [{"name": "x"}, {"name": "", "note": 1}]}',
            [
                ("parts[1].name", "Length must be 1-3 characters"),
                ("parts[1].note", "Must be a string"),
            ],
        ),
        (
            b'{"kind": 1, "size": 0, "label": "x"}',
            [
                ("label", "Length must be 3-5 characters"),
                ("size", "Must be 10-20"),
                ("kind", "Must be one of a, b"),
            ],
        ),
    ],
)
def test_refuses(raw: bytes, expected: list[tuple[str | None, str]]) -> None:
    assert problems(raw) == expected
