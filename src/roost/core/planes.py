"""Data planes: which there are, what can serve them, and the engines that a process has."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from roost.clock import Clock
from roost.core.catalog.entries import RegionEntry
from roost.core.engine import EngineError, Health
from roost.errors import ShownError
from roost.settings import MAIN_HOST, Settings

_HEALTH_SECONDS = 5


class Engine(Protocol):
    """What every implementation of a data plane has."""

    @property
    def name(self) -> str:
        """By which rows remember who holds what is theirs."""

    async def health(self) -> Health: ...

    async def close(self) -> None:
        """Let go of the data plane, which goes on."""


E = TypeVar("E", bound=Engine)
E_co = TypeVar("E_co", bound=Engine, covariant=True)

EVERYWHERE = "all"
"""The place of a data plane that serves all regions."""


@dataclass(frozen=True, slots=True)
class Plane(Generic[E_co]):
    """A data plane by its name (`instances`), and the Protocol that its engines implement."""

    name: str


@dataclass(frozen=True, slots=True)
class Site:
    """Where an engine is to run."""

    region: RegionEntry
    settings: Settings
    clock: Clock
    bound: Mapping[str, str]
    """The names of the region's engines so far, by data plane."""
    object_domain: str | None
    """Below which buckets of the region have names; None for a region without object storage."""


@dataclass(frozen=True, slots=True)
class Provider(Generic[E_co]):
    """An engine that a region may be bound to, under the name that the catalogue and rows use."""

    plane: Plane[E_co]
    name: str
    real: bool
    check: Callable[[Site], Awaitable[str | None]]
    """Why it cannot run there, or None."""
    open: Callable[[Site], Awaitable[tuple[E_co, str]]]
    """The engine, and what it is in a few words."""
    everywhere: bool = False
    """Whether it needs nothing of the region's other engines, and nothing of the host: then it
    serves regions whose guests are simulated too."""


@dataclass(frozen=True, slots=True)
class Binding(Generic[E_co]):
    """The engine of a data plane in a region, or EVERYWHERE, and why it is this one."""

    plane: str
    place: str
    engine: E_co
    real: bool
    why: str


async def ask_health(engine: Engine) -> Health:
    """How an engine is, in a few seconds at most; one that does not say is not well."""
    try:
        async with asyncio.timeout(_HEALTH_SECONDS):
            return await engine.health()
    except (ShownError, TimeoutError) as error:
        return Health(False, str(error) or "no answer in time")


class Placed(Protocol):
    """A row that knows where it is, and which engine holds what is its own."""

    @property
    def region(self) -> str: ...

    @property
    def engine(self) -> str | None:
        """None: nobody holds anything yet."""


class Hosted(Placed, Protocol):
    """One that knows its host, too."""

    @property
    def host(self) -> str: ...


class Engines:
    """The engines of a process, by data plane and region."""

    def __init__(self, bindings: Iterable[Binding[Engine]], host: str = MAIN_HOST) -> None:
        self.bindings = tuple(bindings)
        self.host = host
        """Whose they are."""

    def bindings_of(self, plane: Plane[E]) -> list[Binding[E]]:
        found = [binding for binding in self.bindings if binding.plane == plane.name]
        # A Provider of the plane has opened each.
        return cast("list[Binding[E]]", found)

    def by_region(self, plane: Plane[E]) -> dict[str, E]:
        return {binding.place: binding.engine for binding in self.bindings_of(plane)}

    def of(self, plane: Plane[E], place: str = EVERYWHERE) -> E:
        """Raises EngineError for a region that the catalogue no longer has."""
        engine = self.by_region(plane).get(place)
        if engine is None:
            raise _not_served(place)
        return engine

    def on_host(self, plane: Plane[E], row: Hosted) -> E:
        """The engine that holds what is the row's.

        Raises EngineError like `holding`, and when what it holds is on another host.
        """
        if row.host != self.host:
            raise EngineError(f"It is on host {row.host}, which another worker serves.")
        return self.holding(plane, row)

    def holding(self, plane: Plane[E], row: Placed) -> E:
        """The engine of the name of the one that holds what is the row's, on whatever host.

        Raises EngineError also when this process has another one in its region: that one would
        find nothing and delete nothing, and what was given back would still be used.
        """
        engine = self.of(plane, row.region)
        if row.engine not in (engine.name, None):
            raise _not_served(row.region)
        return engine


def _not_served(region: str) -> EngineError:
    return EngineError(f"Region {region} is not served by this worker.")
