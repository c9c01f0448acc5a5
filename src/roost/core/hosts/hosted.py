"""What groups have on hosts: another host takes over all that a dead one had."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Hosted:
    """Of one group."""

    name: str
    """What it is, as behind a number."""
    give: Callable[[Queries, str, str], Awaitable[int]]
    """All that the first host has is the second one's from now on; how many."""
    regions: Callable[[Queries, str], Awaitable[list[str]]] | None = None
    """Of what a host has; None: those of other groups say so."""
