"""What S3 may answer while several clients write at once: each name holds what some write has put
there that was not surely over before another one began."""

import hashlib
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

NEVER = float("inf")
UNKNOWN = "unknown"
"""The value of a copy of which nobody was told what it is of."""


@dataclass(slots=True)
class Write:
    """Of a value to a name; None: its deletion."""

    value: str | None
    began: float
    ended: float = NEVER
    """When it was acknowledged or first seen; never, if nobody knows whether it came to pass."""
    failed: bool = False
    """Whether it was refused, and so may never be seen."""


@dataclass(slots=True)
class History:
    """Of one bucket. Values are the ETags of bodies."""

    _writes: dict[str, list[Write]] = field(default_factory=lambda: defaultdict(list))

    def begin(self, name: str, value: str | None) -> Write:
        writes = self._writes[name]
        if not writes:
            writes.append(Write(None, 0.0, 0.0))
        write = Write(value, time.monotonic())
        writes.append(write)
        return write

    def read(self, name: str, began: float, value: str | None) -> None:
        """Raises AssertionError unless it may have been there at some moment since then."""
        self.read_one_of(name, began, (value,))

    def read_one_of(self, name: str, began: float, values: Collection[str | None]) -> None:
        """Of something that may have been written in several ways."""
        ended, known = time.monotonic(), values if None in values else (*values, UNKNOWN)
        found = [each for each in self._possible(name, began, ended) if each.value in known]
        assert found, f"{name!r} held {values}, and may only have held {self._told(name, began)}"
        if len(found) == 1:  # Else nobody knows which of them it was.
            found[0].ended = min(found[0].ended, ended)

    def may_be_there(self, name: str, began: float) -> bool:
        """Whether some object may have had the name at some moment since then."""
        now = time.monotonic()
        return any(each.value is not None for each in self._possible(name, began, now))

    def may_be_absent(self, name: str, began: float) -> bool:
        now = time.monotonic()
        return any(each.value is None for each in self._possible(name, began, now))

    def _possible(self, name: str, began: float, ended: float) -> list[Write]:
        writes = self._writes.get(name) or [Write(None, 0.0, 0.0)]
        over = [each.began for each in writes if each.ended < began and not each.failed]
        last = max(over, default=0.0)
        return [
            each for each in writes if each.began < ended and each.ended >= last and not each.failed
        ]

    def _told(self, name: str, began: float) -> list[str | None]:
        return [each.value for each in self._possible(name, began, time.monotonic())]


@dataclass(slots=True)
class Upload:
    """One in parts."""

    sizes: dict[int, set[int]] = field(default_factory=dict)
    """Bytes that each part may have; 0: that it may not be there."""
    over: bool | None = False
    """Whether it was completed or aborted; None: nobody knows."""

    def check(self, found: Mapping[int, int] | None) -> None:
        """Raises AssertionError unless this may be listed of it; None: that there is none."""
        if found is None:
            assert self.over is not False, "it is gone"
            return
        assert self.over is not True, "it is still there"
        assert found.keys() <= self.sizes.keys()
        for number, sizes in self.sizes.items():
            assert found.get(number, 0) in sizes, f"{number} has {found.get(number, 0)}: {sizes}"


def etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def etag_of_parts(*parts: bytes) -> str:
    whole = b"".join(bytes.fromhex(etag(each)) for each in parts)
    return f"{etag(whole)}-{len(parts)}"
