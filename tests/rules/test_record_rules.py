"""Texts that are meant to keep the server busy: each is refused, or taken, at once."""

import time

import pytest

from roost.resources.domains import name_rules, record_rules
from roost.resources.domains.record_rules import Draft
from roost.resources.domains.records import CaaTag
from roost.resources.domains.settings import parse_server
from roost.resources.domains.zone_rules import place, unquoted

_MANY = 65_000
_QUICK = 2.0
"""Seconds; what backtracks takes minutes."""


def _caa(target: str, tag: CaaTag = "issue") -> Draft:
    return Draft("CAA", "x", tag=tag, target=target)


ATTACKS = [
    *(_caa(f"example.com;{'a= ; ' * n}!") for n in (45, 190, _MANY // 5)),
    *(_caa(f"example.com;{'a=;' * n}a= \x7f") for n in (45, 300)),
    *(_caa(text) for text in ("a.b;" + " \t" * 500 + "!", "a.b;" + " \t" * (_MANY // 2) + "!")),
    *(_caa(" " * n + "!") for n in (1_000, _MANY)),
    *(_caa(f"a.b;a{'-a' * n}!") for n in (500, _MANY // 2)),
    *(_caa(f"https://{'a' * n}\\", "iodef") for n in (1_000, _MANY)),
    *(_caa(f"mailto:{'a.' * n}!", "iodef") for n in (500, _MANY // 2)),
    *(_caa(f"mailto:a@{'a' * 60 + '.'}{'a-' * n}!", "iodef") for n in (450, _MANY // 2)),
    *(_caa("a." * n + "!", "iodef") for n in (500, _MANY // 2)),
    *(Draft("MX", "x", target=text * _MANY) for text in ("a", "a.", "-", "a-", "\u00fc", "xn--")),
    *(Draft("SRV", "x", target=text * _MANY) for text in ("_", "_.", "\u00fc.", ".")),
    *(Draft("CNAME", "x", target=f"{'a' * 63}." * 1_000 + "-") for _ in range(1)),
    *(Draft("A", "x", target=text * _MANY) for text in ("1", "1.", "0")),
    *(Draft("AAAA", "x", target=text * _MANY) for text in (":", "0:", "a", "1.")),
]


@pytest.mark.parametrize("draft", ATTACKS, ids=range(len(ATTACKS)))
def test_attacks_are_refused_at_once(draft: Draft) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="Must"):
        record_rules.check_target(draft)
    assert time.process_time() - began < _QUICK


@pytest.mark.parametrize(
    "text",
    [
        '"' * _MANY,
        '"a" ' * (_MANY // 4) + "x",
        '"' + "\\" * _MANY,
        '"' + " " * _MANY,
        '""' * 30_000,
    ],
)
def test_texts_are_taken_at_once(text: str) -> None:
    began = time.process_time()
    place(Draft("TXT", "x", target=text), "zone.example")
    assert time.process_time() - began < _QUICK


def test_names_of_servers() -> None:
    began = time.process_time()
    for text in ("a" * 10**6, "a:" * 10**6, "[" + "1:" * 10**6, "ns." * 10**6, "\u00fc" * 10**6):
        assert parse_server(text) is None
    assert time.process_time() - began < _QUICK


@pytest.mark.parametrize(
    ("target", "strings"),
    [
        ("", None),
        ("plain", None),
        ('"one"', [b"one"]),
        ('"one" "two"', [b"one", b"two"]),
        ('"one""two"', [b"one", b"two"]),
        ('\t"one"\n', [b"one"]),
        ('""', [b""]),
        ('"a\\"b\\\\c\\200"', [b'a"b\\c\xc8']),
        ('"\\\u00e9"', ["\u00e9".encode()]),
        ('"\\256"', None),
        ('"one', None),
        ('one"', None),
        ('"one" two', None),
        ('"one"two"', None),
    ],
)
def test_quoted_texts(target: str, strings: list[bytes] | None) -> None:
    assert unquoted(target) == strings


@pytest.mark.parametrize(
    ("target", "valid"),
    [
        *(
            (text, True)
            for text in ("a.b", "a.b;", ";", "a.b; ", " a.b ;c=d", "a.b;c=d;e-f = g ; h=")
        ),
        *((text, True) for text in ("a.b;c==", "a.b;c=d=e", "a.b;\tc\t=\td\t")),
        *(
            (text, False)
            for text in ("a.b;;", "a.b;c=d;", "a.b;c", "a.b;=d", "a.b;c=d e", "a.b;-c=d")
        ),
        *((text, False) for text in ("a.b;c-=d", "a.b;c--d=e", "a.b;c=\u00e9", "a.b;\nc=d")),
        ("a.b;c=" + "d" * 1_018, True),
        ("a.b;c=" + "d" * 1_019, False),
    ],
)
def test_parameters_of_issuers(target: str, valid: bool) -> None:
    try:
        record_rules.check_target(_caa(target))
    except ValueError:
        assert not valid
    else:
        assert valid


def test_names_of_records() -> None:
    for text in ("a." * 50 + "-", "-" * 100, "a-" * 50, "b" * 100, "*." * 50):
        began = time.process_time()
        with pytest.raises(ValueError, match="Must"):
            name_rules.check_record_name(text)
        assert time.process_time() - began < _QUICK
