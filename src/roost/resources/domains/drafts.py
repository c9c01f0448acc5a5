"""A record before it is one: what was asked for, and where it comes to lie in its zone."""

from dataclasses import dataclass

from roost.resources.domains.records import CaaTag, RecordType


@dataclass(frozen=True, slots=True)
class Draft:
    """A record as it was sent."""

    type: RecordType
    name: str = ""
    tag: CaaTag | None = None
    target: str | None = None
    priority: int | None = None
    weight: int | None = None
    port: int | None = None
    service: str | None = None
    protocol: str | None = None
    ttl_sec: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A record as its row holds it."""

    type: RecordType
    name: str
    target: str
    priority: int
    weight: int
    port: int
    service: str | None
    protocol: str | None
    tag: CaaTag | None
    ttl_sec: int
    owner: str
    """The name below the zone in lower case."""
    content: str
    """Presentation format, names absolute."""

    @property
    def size(self) -> int:
        """What it counts for in the size of its domain."""
        return len(self.target.encode())
