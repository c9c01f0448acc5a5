"""Answers that were translated lately."""

from roost.dialect.known import KnownAnswers

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
