"""Whether this Roost can serve: store, workers, engines (`GET /healthz`)."""

import asyncio
from contextlib import suppress
from time import monotonic

from roost.app.figures import room_of
from roost.app.roost import Roost
from roost.core.planes import Binding, Engine
from roost.errors import ShownError
from roost.jobs.worker_queries import count_alive
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.store import FAULTS
from roost.web.site import HealthRow, Status

_ENGINE_SECONDS = 5
_KNOWN_SECONDS = 2


class Health:
    """The state of a Roost, looked at no more often than every few seconds: anyone may ask."""

    def __init__(self, roost: Roost) -> None:
        self._roost = roost
        self._lock = asyncio.Lock()
        self._known: tuple[float, HealthRow] | None = None

    async def check(self) -> HealthRow:
        async with self._lock:
            if self._known is None or self._known[0] < monotonic():
                row = await check_health(self._roost)
                self._known = (monotonic() + _KNOWN_SECONDS, row)
            return self._known[1]


async def check_health(roost: Roost) -> HealthRow:
    """Broken is: the store does not answer. Degraded is: something else does not, or is full."""
    store, count = await _check_store(roost)
    answers = await asyncio.gather(*(_check_engine(each.engine) for each in roost.engines.bindings))
    engines: dict[str, dict[str, str]] = {}
    problems = [] if store != "ok" or count else ["no worker runs jobs"]
    for binding, (ok, detail) in zip(roost.engines.bindings, answers, strict=True):
        engines.setdefault(binding.place, {})[binding.plane] = detail
        problems += [] if ok else [f"{binding.place}, {binding.plane}: {detail}"]
    for binding in roost.engines.bindings_of(INSTANCE_PLANE):
        problems += await _check_room(binding)
    degraded: Status = "degraded" if problems else "ok"
    return {
        "status": degraded if store == "ok" else "broken",
        "problems": problems,
        "store": store,
        "workers": count,
        "engines": engines,
    }


async def _check_room(binding: Binding[InstanceEngine]) -> list[str]:
    """What cannot be seen is a problem that the engine's own health tells."""
    with suppress(ShownError):
        host = await binding.engine.host()
        folders = () if host is None else host.folders
        return [
            f"{binding.place}: {folder.path} has {folder.free >> 20} MiB of"
            f" {folder.size >> 20} left"
            for folder in folders
            if room_of(folder) == "nearly full"
        ]
    return []


async def _check_store(roost: Roost) -> tuple[str, int]:
    try:
        return "ok", await count_alive(roost.store.reserved, roost.settings.job_lease)
    except FAULTS as error:
        return type(error).__name__, 0


async def _check_engine(engine: Engine) -> tuple[bool, str]:
    try:
        async with asyncio.timeout(_ENGINE_SECONDS):
            health = await engine.health()
    except (ShownError, TimeoutError) as error:
        return False, str(error) or "no answer in time"
    return health.ok, health.detail
