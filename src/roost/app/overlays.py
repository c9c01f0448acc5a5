"""Tells the networks of this host's guests where those of other hosts are."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.resources.compute import overlay_service
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.compute.overlay_engine import Overlay

_LOOK_SECONDS = 1.0
_SHARE, _MOST_SECONDS = 0.2, 5.0
"""Rows of a large region take long to read: that much of the time at most, and so seldom."""
_MEND_SECONDS = 60.0
"""Until what somebody has changed on the host is looked for again."""

_log = structlog.get_logger(__name__)


async def keep_overlays(roost: Roost) -> None:
    """Until it is cancelled."""
    keeper, loop = _Keeper(roost.engines.by_region(INSTANCE_PLANE)), asyncio.get_running_loop()
    looked = loop.time()
    while True:
        began = read = loop.time()
        if began - looked > _MEND_SECONDS:
            keeper.told.clear()
            looked = began
        try:
            host = roost.settings.host
            wanted = await overlay_service.wanted(roost.store, keeper.engines, host)
            read = loop.time()
        except Exception as error:
            keeper.report("", error)
        else:
            keeper.failed.pop("", None)
            for region, overlay in wanted.items():
                await keeper.tell(region, overlay)
        pause = min(_MOST_SECONDS, (read - began) / _SHARE)
        await asyncio.sleep(max(_LOOK_SECONDS, pause))


@dataclass(frozen=True, slots=True)
class _Keeper:
    """What engines have been told, and why they could not be."""

    engines: Mapping[str, InstanceEngine]
    told: dict[str, Overlay] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    async def tell(self, region: str, overlay: Overlay) -> None:
        if self.told.get(region) == overlay:
            return
        engine = self.engines[region].overlay
        try:
            if await engine.get() != overlay:
                await engine.set(overlay)
                _log.info("overlay_set", region=region)
        except Exception as error:
            self.report(region, error)
        else:
            self.told[region] = overlay
            self.failed.pop(region, None)

    def report(self, region: str, error: Exception) -> None:
        """Once, until it is well again or something else."""
        if self.failed.get(region) != str(error):
            self.failed[region] = str(error)
            known = isinstance(error, EngineError)
            _log.warning("overlay_not_set", region=region, reason=str(error), exc_info=not known)
