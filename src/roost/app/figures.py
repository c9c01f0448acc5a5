"""What hosts have left and what has been promised of it: for Prometheus, and a log that warns."""

import asyncio
from typing import Literal

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from roost.app.roost import Roost
from roost.core.engine import Folder, Host
from roost.errors import ShownError
from roost.resources.compute import totals_queries as compute
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.volumes import queries as volumes
from roost.store import Queries

_SECONDS = 60.0
_MB, _GB = 1 << 20, 1 << 30

Room = Literal["enough", "low", "nearly full"]

_log = structlog.get_logger(__name__)


def room_of(folder: Folder) -> Room:
    """Large disks are low later than at a tenth, small ones earlier."""
    if folder.free < max(_GB // 4, min(folder.size // 50, 4 * _GB)):
        return "nearly full"
    if folder.free < max(_GB, min(folder.size // 10, 20 * _GB)):
        return "low"
    return "enough"


class Figures:
    """Gauges of the whole database and of the hosts that this process sees."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"roost_{name}", text, labels, registry=registry)

        self._instances = gauge("instances", "Instances", "region", "status")
        self._memory = gauge(
            "promised_memory_bytes", "Memory of the instances' plans", "region", "status"
        )
        self._disk = gauge("promised_disk_bytes", "Sizes of disks or volumes", "region", "plane")
        self._host_disk = gauge("host_disk_bytes", "Size of a file system", "region", "folder")
        self._host_disk_free = gauge("host_disk_free_bytes", "Room on it", "region", "folder")
        self._host_memory = gauge("host_memory_bytes", "Memory of a host", "region")
        self._host_memory_free = gauge("host_memory_free_bytes", "What is left of it", "region")
        self._restarts = Counter(
            "roost_name_server_restarts", "Times it had to be started again", registry=registry
        )
        self._restarted = 0
        self._rooms: dict[tuple[str, str], Room] = {}

    async def show_promises(self, db: Queries) -> None:
        for gauge in (self._instances, self._memory, self._disk):
            gauge.clear()
        for each in await compute.promised_by_status(db):
            self._instances.labels(each.region, each.status).set(each.instances)
            self._memory.labels(each.region, each.status).set(each.memory)
        for plane, sizes in (
            ("instances", await compute.promised_disk(db)),
            ("volumes", await volumes.promised_disk(db)),
        ):
            for region, size in sizes.items():
                self._disk.labels(region, plane).set(size)

    def show_host(self, region: str, host: Host) -> None:
        self._host_memory.labels(region).set(host.memory)
        self._host_memory_free.labels(region).set(host.memory_free)
        for folder in host.folders:
            self._host_disk.labels(region, folder.path).set(folder.size)
            self._host_disk_free.labels(region, folder.path).set(folder.free)
            self._warn(region, folder)

    def show_restarts(self, restarts: int) -> None:
        """Of the name server, by this process."""
        self._restarts.inc(restarts - self._restarted)
        self._restarted = restarts

    def _warn(self, region: str, folder: Folder) -> None:
        """Once each time that it changes."""
        room, key = room_of(folder), (region, folder.path)
        if room == self._rooms.get(key, "enough"):
            return
        self._rooms[key] = room
        log = {"enough": _log.info, "low": _log.warning, "nearly full": _log.error}[room]
        free = folder.free // _MB
        log("host_disk", region=region, folder=folder.path, room=room, free_mib=free)


async def keep_figures(roost: Roost) -> None:
    """Look once a minute, until it is cancelled."""
    figures = Figures(roost.metrics)
    while True:
        try:
            await _look(roost, figures)
        except Exception:
            _log.exception("figures_failed")
        await asyncio.sleep(_SECONDS)


async def _look(roost: Roost, figures: Figures) -> None:
    figures.show_restarts(roost.name_server.engine.restarts)
    for region, engine in roost.engines.by_region(INSTANCE_PLANE).items():
        try:
            host = await engine.host()
        except ShownError as error:
            _log.warning("host_unseen", region=region, reason=str(error))
        else:
            if host is not None:
                figures.show_host(region, host)
    await figures.show_promises(roost.store)
