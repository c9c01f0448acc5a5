"""Answers that were translated lately."""

import orjson

from roost.dialect.known import KnownAnswers, by_records

LONG = 10_000


def test_what_is_the_same_is_translated_once() -> None:
    calls = list[bytes]()

    def rewrite(body: bytes) -> bytes:
        calls.append(body)
        return body.replace(b"a", b"bb")

    known = KnownAnswers()
    one, other = b"a" * LONG, b"a" * (LONG - 1) + b"c"
    for body in (one, bytearray(one), other, one, one, b"short", b"short"):
        assert known.rewritten(rewrite, bytes(body)) == bytes(body).replace(b"a", b"bb")
    assert calls == [one, other, one, b"short", b"short"]


def test_each_operation_by_itself() -> None:
    known, body = KnownAnswers(), b"a" * LONG
    assert known.rewritten(lambda body: body + b"1", body) == body + b"1"
    assert known.rewritten(lambda body: body + b"2", body) == body + b"2"


def test_no_more_is_kept_than_fits() -> None:
    known = KnownAnswers(most=5 * LONG)
    bodies = [b"%d" % n + b"a" * LONG for n in range(9)]
    for body in (*bodies, b"x" * 6 * LONG):
        assert known.rewritten(bytes.upper, body) == body.upper()
        assert known._size == sum(len(a) + len(b) for a, b in known._known.values()) <= 5 * LONG


def test_records_that_were_translated_before_are_not_translated_again() -> None:
    asked = list[bytes]()

    def rewrite(body: bytes) -> bytes:
        asked.append(body)
        return body.replace(b"compute", b"linode")

    def listed(numbers: range, changed: int = 0) -> bytes:
        texts = {n: "new" if n == changed else 'a "quoted" },{"id": text' for n in numbers}
        records = [{"id": n, "compute": texts[n] + "." * 600} for n in numbers]
        return orjson.dumps({"data": records, "page": 1})

    first, later = listed(range(1, 40)), listed(range(1, 39), changed=20)
    for body in (first, later):
        assert by_records(rewrite, body) == body.replace(b"compute", b"linode")
    assert b"".join(asked[:39]) == first
    assert len(asked) == 39 + 2, "the one that has changed, and the last with the end"


def test_long_records_are_not_kept() -> None:
    asked = list[bytes]()

    def rewrite(body: bytes) -> bytes:
        asked.append(body)
        return body

    body = orjson.dumps({"data": [{"id": 1, "text": "a" * 9_000}]})
    for _ in range(2):
        assert by_records(rewrite, body) == body
    assert asked == [body, body]
