"""Tells the networks of this host's guests where those of other hosts are."""

import asyncio

import structlog

from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.resources.compute import overlay_service
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.compute.overlay_engine import Overlay

_LOOK_SECONDS = 1.0
_MEND_SECONDS = 60.0
"""Until what somebody has changed on the host is looked for again."""

_log = structlog.get_logger(__name__)


async def keep_overlays(roost: Roost) -> None:
    """Until it is cancelled."""
    engines = roost.engines.by_region(INSTANCE_PLANE)
    told, failed = dict[str, Overlay](), dict[str, str]()
    looked, loop = -_MEND_SECONDS, asyncio.get_running_loop()
    while True:
        if loop.time() - looked > _MEND_SECONDS:
            told.clear()
            looked = loop.time()
        try:
            wanted = await overlay_service.wanted(roost.store, engines, roost.settings.host)
        except Exception as error:
            _report(failed, "", error)
        else:
            failed.pop("", None)
            for region, overlay in wanted.items():
                if told.get(region) != overlay:
                    await _tell(region, engines[region], overlay, told, failed)
        await asyncio.sleep(_LOOK_SECONDS)


async def _tell(
    region: str,
    engine: InstanceEngine,
    overlay: Overlay,
    told: dict[str, Overlay],
    failed: dict[str, str],
) -> None:
    try:
        if await engine.overlay.get() != overlay:
            await engine.overlay.set(overlay)
            _log.info("overlay_set", region=region)
        told[region] = overlay
        failed.pop(region, None)
    except Exception as error:
        _report(failed, region, error)


def _report(failed: dict[str, str], region: str, error: Exception) -> None:
    """Once, until it is well again."""
    if failed.get(region) != str(error):
        failed[region] = str(error)
        known = isinstance(error, EngineError)
        _log.warning("overlay_not_set", region=region, reason=str(error), exc_info=not known)
