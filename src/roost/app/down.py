"""`roost down`: nothing of a state runs any more."""

import asyncio
from collections.abc import Callable

from roost.app.engines import Binding, bind_engines
from roost.app.served import stopped
from roost.clock import Clock
from roost.resources.catalog import load
from roost.resources.compute.engine import EngineError
from roost.settings import Settings
from roost.store.cluster import Cluster


async def take_down(settings: Settings, say: Callable[[str], None]) -> bool:
    """Stop the server, the guests of all regions and the embedded database; False if one stays.

    Raises ServedError, CatalogError or EngineUnavailableError.
    """
    async with stopped(settings.state) as ran:
        say("stopped the server" if ran else "no server was running")
        catalog = await asyncio.to_thread(load, settings.catalog)
        bindings = await bind_engines(settings, catalog, Clock())
        ended = await asyncio.gather(*(_stop_guests(binding, say) for binding in bindings))
        await _stop_database(settings, say)
    return all(ended)


async def _stop_guests(binding: Binding, say: Callable[[str], None]) -> bool:
    try:
        await binding.engine.shut_down()
    except EngineError as error:
        say(f"region {binding.region}: not all guests stopped: {error}")
        return False
    finally:
        await binding.engine.close()
    say(f"region {binding.region}: all guests are off")
    return True


async def _stop_database(settings: Settings, say: Callable[[str], None]) -> None:
    """A server that was killed leaves its database running."""
    if settings.database_url is None:
        cluster = Cluster(settings.state / "postgres")
        if cluster.postmaster() is not None:
            await cluster.stop()
            say("stopped the database")
