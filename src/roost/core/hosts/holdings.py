"""What groups have on hosts: another host takes over all that a dead one had."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from roost.core.hosts.queries import all_hosts
from roost.core.planes import Engines
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Held:
    """What one host has of a group."""

    count: int
    storage: int
    """MB that are promised."""


NOTHING = Held(0, 0)


@dataclass(frozen=True, slots=True)
class Holding:
    """How one group's things on hosts are counted, looked for and taken over."""

    name: str
    """What one of them is, as behind a number."""
    give: Callable[[Queries, str, str], Awaitable[int]]
    """All that the first host has is the second one's from now on; how many."""
    by_host: Callable[[Queries], Awaitable[Mapping[str, Held]]] | None = None
    """What each host has, of those that have any; None: those of other groups say so."""
    regions: Callable[[Queries, str], Awaitable[list[str]]] | None = None
    """Of what a host has; None: likewise."""
    missing: Callable[[Queries, Engines, str], Awaitable[list[str]]] | None = None
    """What the rows of a host have on disks, and these engines have not, such as `volume 100001`;
    None: nothing is on disks. Raises EngineError."""
    moves_to: Callable[[Queries, str], Awaitable[list[int]]] | None = None
    """Jobs that bring something to a host; None: nothing goes to another host by itself."""


class Holdings:
    """The holdings of all groups together."""

    def __init__(self, *holdings: Holding) -> None:
        self._holdings = holdings

    async def counts(self, db: Queries) -> dict[str, dict[str, int]]:
        """How many of what each host has, of those that have anything."""
        found = dict[str, dict[str, int]]()
        for each in self._holdings:
            if each.by_host is not None:
                for host, held in (await each.by_host(db)).items():
                    found.setdefault(host, {})[each.name] = held.count
        return found

    async def silent(self, db: Queries) -> dict[str, dict[str, int]]:
        """What hosts have that nobody hears of, where it is at a standstill."""
        held = await self.counts(db)
        hosts = [each.name for each in await all_hosts(db) if not each.alive]
        return {name: held[name] for name in hosts if name in held}

    async def regions(self, db: Queries, host: str) -> set[str]:
        """The regions of all that a host has."""
        asked = [each.regions for each in self._holdings if each.regions is not None]
        return set(chain.from_iterable([await regions(db, host) for regions in asked]))

    async def missing(self, db: Queries, engines: Engines, host: str) -> list[str]:
        """What a host has by its rows, and these engines do not hold. Raises EngineError."""
        asked = [each.missing for each in self._holdings if each.missing is not None]
        return [*chain.from_iterable([await missing(db, engines, host) for missing in asked])]

    async def moves_to(self, db: Queries, host: str) -> list[int]:
        """Jobs that bring something to a host."""
        asked = [each.moves_to for each in self._holdings if each.moves_to is not None]
        return [*chain.from_iterable([await moves_to(db, host) for moves_to in asked])]

    async def give(self, db: Queries, host: str, other: str) -> dict[str, int]:
        """All that a host has is another one's from now on; how many of what."""
        return {each.name: await each.give(db, host, other) for each in self._holdings}


def spelled(counts: Mapping[str, int]) -> str:
    """How many of what, for a person."""
    return ", ".join(f"{count} x {what}" for what, count in counts.items() if count) or "nothing"


def silent_hosts(silent: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line for each, with what it has."""
    return [f"host {name} is silent: it has {spelled(held)}" for name, held in silent.items()]
