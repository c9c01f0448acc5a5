"""What hosts have left and what has been promised of it: for Prometheus, and a log that warns."""

from collections.abc import Mapping

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from roost.core.engine import Folder, Host, Room, room_of
from roost.resources.compute import totals_queries as compute
from roost.resources.volumes import queries as volumes
from roost.store import Queries

_MB = 1 << 20

_log = structlog.get_logger(__name__)


class Figures:
    """Gauges of the whole database and of the hosts that this process sees."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"roost_{name}", text, labels, registry=registry)

        self._instances = gauge("instances", "Instances", "region", "host", "status")
        self._memory = gauge(
            "promised_memory_bytes", "Memory of the instances' plans", "region", "host", "status"
        )
        self._disk = gauge("promised_disk_bytes", "Sizes of disks or volumes", "region", "plane")
        self._host_disk = gauge("host_disk_bytes", "Size of a file system", "region", "folder")
        self._host_disk_free = gauge("host_disk_free_bytes", "Room on it", "region", "folder")
        self._host_memory = gauge("host_memory_bytes", "Memory of a host", "region")
        self._host_memory_free = gauge("host_memory_free_bytes", "What is left of it", "region")
        self._dropped = gauge(
            "guest_frames_dropped", "Frames in the name of others", "region", "reason"
        )
        self._restarts = Counter(
            "roost_name_server_restarts", "Times it had to be started again", registry=registry
        )
        self._restarted = 0
        self._rooms: dict[tuple[str, str], Room] = {}

    async def show_promises(self, db: Queries) -> None:
        promised = await compute.promised_by_status(db)
        disks = {
            "instances": await compute.promised_disk(db),
            "volumes": await volumes.promised_disk(db),
        }
        # Only now, as somebody may read them while the database is asked.
        for gauge in (self._instances, self._memory, self._disk):
            gauge.clear()
        for each in promised:
            where = (each.region, each.host, each.status)
            self._instances.labels(*where).set(each.instances)
            self._memory.labels(*where).set(each.memory)
        for plane, sizes in disks.items():
            for region, size in sizes.items():
                self._disk.labels(region, plane).set(size)

    def show_host(self, region: str, host: Host) -> None:
        self._host_memory.labels(region).set(host.memory)
        self._host_memory_free.labels(region).set(host.memory_free)
        for folder in host.folders:
            self._host_disk.labels(region, folder.path).set(folder.size)
            self._host_disk_free.labels(region, folder.path).set(folder.free)
            self._warn(region, folder)

    def show_dropped(self, region: str, frames: Mapping[str, int]) -> None:
        """What filters against spoofing kept back, by reason."""
        for reason, count in frames.items():
            self._dropped.labels(region, reason).set(count)

    def show_restarts(self, restarts: int) -> None:
        """Show how often this process has restarted the name server."""
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
