"""What serves each region, how that is, and what it holds."""

from dataclasses import dataclass

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.core.planes import Binding, Engine


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """The engine of a data plane in a region, or in `all`."""

    region: str
    plane: str
    engine: str
    kind: str
    """`real` or `simulated`."""
    healthy: bool
    detail: str
    """Its version and the like, or what is wrong."""
    in_use: bool | None
    """Whether rows say that it holds something; None where nobody counts."""
    why: str
    """Why it is this one."""


async def list_engines(roost: Roost) -> list[ListedEngine]:
    """In the order in which they are bound."""
    held = dict[str, set[tuple[str, str]]]()
    for plane, in_use in GROUPS.holders:
        held.setdefault(plane.name, set()).update(await in_use(roost.store))
    listed = list[ListedEngine]()
    for binding in roost.table:
        healthy, detail = await _health(binding)
        places = held.get(binding.plane)
        used = None if places is None else (binding.place, binding.engine.name) in places
        kind = "real" if binding.real else "simulated"
        name, why = binding.engine.name, binding.why
        listed.append(
            ListedEngine(binding.place, binding.plane, name, kind, healthy, detail, used, why)
        )
    return listed


async def _health(binding: Binding[Engine]) -> tuple[bool, str]:
    try:
        health = await binding.engine.health()
    except EngineError as error:
        return False, str(error)
    return health.ok, health.detail
