"""`roost fsck` of networks of several hosts: their ways against where instances are."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, unrepairable
from roost.core.hosts import queries as hosts
from roost.core.planes import Engines
from roost.resources.compute import overlay_service
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.overlay_engine import Overlay

_PATIENCE_SECONDS, _POLL_SECONDS = 12.0, 0.5
"""In which a worker that runs has told its engines what has changed, also on a busy host."""


async def check_overlays(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    engines = installation.get(Engines)
    facts = await hosts.find(installation.store, engines.host)
    patience = _PATIENCE_SECONDS if facts is not None and facts.alive else 0.0
    looks = (_look(installation, each, patience) for each in engines.by_region(INSTANCE_PLANE))
    for found in await asyncio.gather(*looks):
        if found is not None:
            yield found


async def _look(installation: Installation, region: str, patience: float) -> Finding | None:
    text = f"networks of region {region}"
    try:
        if await _fits_within(installation, region, patience):
            return None
    except EngineError as error:
        return unrepairable(f"{text} cannot be examined: {error}", "the engine does not answer")
    mend = partial(_mend, installation, region)
    return Finding(f"{text} do not reach its instances on other hosts", mend)


async def _fits_within(installation: Installation, region: str, seconds: float) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not await _fits(installation, region):
        if loop.time() >= deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


async def _fits(installation: Installation, region: str) -> bool:
    engine = installation.get(Engines).of(INSTANCE_PLANE, region)
    return await engine.overlay.get() == await _wanted(installation, region)


async def _mend(installation: Installation, region: str) -> str:
    engine = installation.get(Engines).of(INSTANCE_PLANE, region)
    await engine.overlay.set(await _wanted(installation, region))
    return "told the network where they are"


async def _wanted(installation: Installation, region: str) -> Overlay:
    host = installation.get(Engines).host
    return (await overlay_service.wanted(installation.store, [region], host))[region]
