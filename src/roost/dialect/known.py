"""Long answers that were translated lately: who polls a list gets the same one again and again."""

from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache

from roost.web.translation import Rewrite

_LEAST, _MOST = 8_000, 4_000_000
"""Bytes of an answer that is worth it, and of all that are kept, in both languages."""
_BEGINNING = 64

_BOUNDARY = b'},{"id":'
"""Between two records of a list; no text within a record has it, as its quotes are escaped."""
_RECORDS, _RECORD, _LONGEST = 1000, 600, 4_000
"""How many pieces are kept, and how long, in bytes, they are at least and at most."""

_Key = tuple[Rewrite, int, bytes]


class KnownAnswers:
    """What was translated last. An answer is known when every byte of it is the same, which takes
    a tenth of the time of its translation; so it does not matter whose it was."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._size = 0
        self._known: OrderedDict[_Key, tuple[bytes, bytes]] = OrderedDict()

    def rewritten(self, rewrite: Rewrite, body: bytes) -> bytes:
        if len(body) < _LEAST:
            return rewrite(body)
        # A hash of the whole would take as long as the translation.
        key = (rewrite, len(body), body[:_BEGINNING])
        known = self._known.get(key)
        if known is not None and known[0] == body:
            self._known.move_to_end(key)
            return known[1]
        said = rewrite(body)
        self._forget(key)
        self._known[key] = (body, said)
        self._size += len(body) + len(said)
        while self._size > self._most:
            self._forget(next(iter(self._known)))
        return said

    def _forget(self, key: _Key) -> None:
        was, said = self._known.pop(key, (b"", b""))
        self._size -= len(was) + len(said)


def by_records(rewrite: Rewrite, body: bytes) -> bytes:
    """A long list, of which most records are as they were when it was last translated. `rewrite`
    must not look beyond a record."""
    if len(body) < _LEAST:
        return rewrite(body)
    pieces = _records(body)
    return b"".join([_said(rewrite, p) if len(p) <= _LONGEST else rewrite(p) for p in pieces])


@lru_cache(_RECORDS)
def _said(rewrite: Rewrite, piece: bytes) -> bytes:
    return rewrite(piece)


def _records(body: bytes) -> Iterator[bytes]:
    """Cut before records, so that a piece is the same whatever comes before it and after."""
    at = 0
    while (end := body.find(_BOUNDARY, at + _RECORD)) >= 0:
        yield body[at : end + 2]
        at = end + 2
    yield body[at:]
