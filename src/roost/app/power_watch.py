"""Listens to the engines of this process: a guest that goes off is looked at within a second."""

import asyncio
from contextlib import aclosing

import structlog

from roost.app.roost import Roost
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.compute.watch_jobs import went_off

_PAUSE_SECONDS = 5.0
"""After a fault; the watch of each minute goes on meanwhile."""

_log = structlog.get_logger(__name__)


async def listen(roost: Roost) -> None:
    """Until it is cancelled."""
    engines = roost.engines.by_region(INSTANCE_PLANE)
    async with asyncio.TaskGroup() as tasks:
        for region, engine in engines.items():
            tasks.create_task(_listen(roost, region, engine))


async def _listen(roost: Roost, region: str, engine: InstanceEngine) -> None:
    while True:
        try:
            async with aclosing(engine.endings()) as endings:
                async for compute_id in endings:
                    async with roost.store.transaction() as db:
                        await went_off(db, roost.queue, compute_id)
        except Exception:
            _log.exception("power_watch_failed", region=region)
        await asyncio.sleep(_PAUSE_SECONDS)
