"""`roost fsck` of networks of several hosts: their ways against where instances are."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, unrepairable
from roost.core.planes import Engines
from roost.resources.compute import overlay_service
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.overlay_engine import Overlay

_PATIENCE_SECONDS, _POLL_SECONDS = 12.0, 0.5
"""In which a worker that runs has told its engines what has changed, also on a busy host."""


async def check_overlays(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    for region in installation.get(Engines).by_region(INSTANCE_PLANE):
        text = f"networks of region {region}"
        try:
            if not await _fits_soon(installation, region):
                yield Finding(
                    f"{text} do not reach its instances on other hosts",
                    partial(_mend, installation, region),
                )
        except EngineError as error:
            yield unrepairable(f"{text} cannot be examined: {error}", "the engine does not answer")


async def _fits_soon(installation: Installation, region: str) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE_SECONDS
    while not await _fits(installation, region):
        if loop.time() > deadline:
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
