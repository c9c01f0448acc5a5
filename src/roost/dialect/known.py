"""Long answers that were translated lately: who polls a list gets the same one again and again."""

from collections import OrderedDict
from collections.abc import Callable

_LEAST, _MOST = 8_000, 4_000_000
"""Bytes of an answer that is worth it, and of all that are kept, in both languages."""
_BEGINNING = 64

Rewrite = Callable[[bytes], bytes]
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
