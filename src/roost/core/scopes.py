"""OAuth scopes: `<area>:read_only` or `<area>:read_write`, or `*` for all (spec A auth 2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["read_only", "read_write"]

AREAS = (
    "account",
    "child_account",
    "computes",
    "databases",
    "domains",
    "events",
    "firewall",
    "images",
    "ips",
    "lke",
    "longview",
    "nodebalancers",
    "object_storage",
    "stackscripts",
    "volumes",
    "vpc",
)

_RANKS: dict[str, int] = {"read_only": 1, "read": 1, "read_write": 2}


@dataclass(frozen=True, slots=True)
class Scopes:
    """What a token may do. read_write includes read_only."""

    text: str
    """As records and headers show it: `*`, or scopes with a space between them."""
    ranks: tuple[tuple[str, int], ...]

    @classmethod
    def parse(cls, text: str) -> "Scopes":
        """Scopes with spaces or commas between them; raises ValueError on an unknown one."""
        words = text.replace(",", " ").split()
        if words == ["*"]:
            return cls("*", ())
        ranks: dict[str, int] = {}
        for word in words:
            area, rank = _split(word)
            ranks[area] = max(rank, ranks.get(area, 0))
        if not ranks:
            raise ValueError("no scope given")
        return cls(" ".join(words), tuple(ranks.items()))

    def allow(self, wanted: tuple[str, ...]) -> bool:
        """Whether all `wanted` scopes are held."""
        if self.text == "*":
            return True
        held = dict(self.ranks)
        return all(held.get(area, 0) >= rank for area, rank in map(_split, wanted))

    @classmethod
    def smallest(cls, wanted: Iterable[str]) -> "Scopes | None":
        """The narrowest scopes that allow all `wanted` ones; None when nothing is wanted."""
        ranks: dict[str, int] = {}
        for area, rank in map(_split, wanted):
            ranks[area] = max(rank, ranks.get(area, 0))
        levels = ("", "read_only", "read_write")
        words = [f"{area}:{levels[rank]}" for area, rank in sorted(ranks.items())]
        return cls.parse(" ".join(words)) if words else None

    def include(self, other: "Scopes") -> bool:
        """Whether a token with these scopes may do all that one with the `other` may."""
        if other.text == "*":
            return self.text == "*"
        held = dict(self.ranks)
        return self.text == "*" or all(held.get(area, 0) >= rank for area, rank in other.ranks)


def _split(scope: str) -> tuple[str, int]:
    area, _, level = scope.partition(":")
    if area not in AREAS or level not in _RANKS:
        raise ValueError(f"{scope} is not a scope")
    return area, _RANKS[level]
