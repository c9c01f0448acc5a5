"""A region keeps its engines while they hold something."""

from roost.app.engines import EngineUnavailableError
from roost.app.groups import GROUPS
from roost.core.planes import Engines
from roost.store import Queries


async def keep_to_engines(db: Queries, engines: Engines) -> None:
    """Raises EngineUnavailableError where another engine than the one bound holds something.

    A region that has nothing of a data plane may change its engine freely.
    """
    for plane, in_use in GROUPS.holders:
        used = await in_use(db)
        for binding in engines.bindings_of(plane):
            for region, name in used:
                if region == binding.place and name != binding.engine.name:
                    raise EngineUnavailableError(
                        f"region {region} has {binding.plane} on the engine {name}, but would now"
                        f" get the engine {binding.engine.name}: {binding.why}"
                    )
