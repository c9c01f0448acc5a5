"""A second host of a Roost: a worker with engines of its own, beside the server of a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from roost.app.roost import Roost, open_roost
from roost.app.serve import work
from roost.core.hosts import queries
from tests.jobs.bench import until


@asynccontextmanager
async def running_host(main: Roost, name: str, state: Path, **more: object) -> AsyncIterator[Roost]:
    """A worker of the host, which serves all regions when the block begins."""
    changed = {"host": name, "state": state, "key_file": main.settings.sealing_key, **more}
    settings = main.settings.model_copy(update=changed)
    async with open_roost(settings) as roost:
        ready, stop = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(work(roost, ready.set, stop))
        try:
            await until(lambda: _serves(main, name), seconds=60)
            yield roost
        finally:
            stop.set()
            await task


async def _serves(main: Roost, name: str) -> bool:
    facts = await queries.find(main.store, name)
    if main.settings.host_listen is not None and (facts is None or facts.address is None):
        return False
    for region in main.catalog.regions:
        rooms = await queries.serving(main.store, region.id)
        if name not in {each.host for each in rooms}:
            return False
    return True
