"""`roost down`: nothing of a state runs any more."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from roost.app.engines import bind_engines
from roost.app.engines_in_use import keep_to_engines
from roost.app.name_server import stop_dns
from roost.app.served import stopped
from roost.app.state import UnreachableError, open_store, refuse_unfinished
from roost.clock import Clock
from roost.core.catalog import load
from roost.core.engine import EngineError
from roost.core.planes import Binding, Engine, Engines
from roost.errors import ShownError
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.databases.engine import PLANES
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.object_storage.engine import OBJECT_PLANE
from roost.settings import Settings
from roost.store.cluster import Cluster
from roost.threads import DISK


async def take_down(settings: Settings, say: Callable[[str], None]) -> bool:
    """Stop the server, guests, managed databases, object storage, name server and database.

    False if one stays. What runs is known from the state, so that guests are ended also where a
    database of the operator's own does not answer. Raises CatalogError, EngineUnavailableError or
    UnfinishedRestoreError before anything is stopped, and ServedError.
    """
    refuse_unfinished(settings.state)
    database = None if settings.database_url else Cluster(settings.state / "postgres")
    database_ran = database is not None and database.postmaster() is not None
    engines = await _bind(settings, say)
    async with stopped(settings.state) as ran:
        say("stopped the server" if ran else "no server was running")
        ended = await asyncio.gather(
            _stop_name_server(settings.state, say),
            *(
                _shut_down(binding, "guests", say, told=True)
                for binding in engines.bindings_of(INSTANCE_PLANE)
            ),
            *(
                _shut_down(binding, "databases", say, told=binding.real)
                for plane in PLANES.values()
                for binding in engines.bindings_of(plane)
            ),
            *(
                _shut_down(binding, "NodeBalancers", say, told=False)
                for binding in engines.bindings_of(BALANCER_PLANE)
            ),
            *(
                _shut_down(binding, "buckets", say, told=False)
                for binding in engines.bindings_of(OBJECT_PLANE)
            ),
        )
        if database is not None and database.postmaster() is not None:
            await database.stop()
        if database_ran and not ran:
            say("stopped the database")
    return all(ended)


async def _bind(settings: Settings, say: Callable[[str], None]) -> Engines:
    """The engines that hold guests and databases, and no others."""
    catalog = await DISK.run(load, settings.catalog)
    engines = Engines(await bind_engines(settings, catalog, Clock()), settings.host)
    try:
        async with open_store(settings) as store:
            await keep_to_engines(store, engines)
    except UnreachableError as error:
        say(f"{error}; what the state folder knows of is ended all the same")
    return engines


async def _stop_name_server(state: Path, say: Callable[[str], None]) -> bool:
    try:
        if await stop_dns(state):
            say("stopped the name server")
    except ShownError as error:
        say(f"the name server did not stop: {error}")
        return False
    return True


class _Held(Engine, Protocol):
    """What the engines of these planes have in common."""

    async def shut_down(self) -> None: ...


async def _shut_down(
    binding: Binding[_Held], what: str, say: Callable[[str], None], *, told: bool
) -> bool:
    """`told`: whether its end is worth a line."""
    try:
        await binding.engine.shut_down()
    except EngineError as error:
        say(f"region {binding.place}: not all {what} stopped: {error}")
        return False
    finally:
        await binding.engine.close()
    if told:
        say(f"region {binding.place}: all {what} are off")
    return True
