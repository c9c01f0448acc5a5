"""Whether this Roost can serve: store, workers, engines (`GET /healthz`)."""

import asyncio
from contextlib import suppress
from time import monotonic

from roost.app.roost import Roost
from roost.core.engine import Health as EngineHealth
from roost.core.engine import room_of
from roost.core.hosts.holdings import Holdings, silent_hosts
from roost.core.planes import Binding, Engine, ask_health
from roost.errors import ShownError
from roost.jobs.worker_queries import count_alive
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.store import FAULTS
from roost.web.site import HealthRow, Status

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
    store, count = await check_store(roost)
    engines: dict[str, dict[str, str]] = {}
    problems = [] if store != "ok" or count else ["no worker runs jobs"]
    problems += await _check_hosts(roost) if count else []
    for binding, health in await check_engines(roost):
        engines.setdefault(binding.place, {})[binding.plane] = health.detail
        problems += [] if health.ok else [f"{binding.place}, {binding.plane}: {health.detail}"]
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


async def _check_hosts(roost: Roost) -> list[str]:
    """Without a store, or any worker, that is told already."""
    try:
        return silent_hosts(await roost.services.get(Holdings).silent(roost.store.reserved))
    except FAULTS:
        return []


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


async def check_engines(roost: Roost) -> list[tuple[Binding[Engine], EngineHealth]]:
    """All of this process, asked at the same time."""
    bindings = roost.engines.bindings
    answers = await asyncio.gather(*(ask_health(each.engine) for each in bindings))
    return list(zip(bindings, answers, strict=True))


async def check_store(roost: Roost) -> tuple[str, int]:
    """`ok` or the fault's name, and how many workers run jobs."""
    try:
        return "ok", await count_alive(roost.store.reserved, roost.settings.job_lease)
    except FAULTS as error:
        return type(error).__name__, 0
