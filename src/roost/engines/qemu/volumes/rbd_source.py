"""Volumes as images of a storage cluster, for guests that are QEMU processes of this host.

The guests are asked what they have: the cluster knows its clients by addresses only, and still
lists one that was killed for half a minute.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.guests.devices import Options, volume_name, volume_of
from roost.engines.qemu.guests.directory import Guest, running_guests
from roost.engines.qemu.guests.monitor import MonitorError, connected
from roost.engines.qemu.host.programs import failure
from roost.engines.qemu.rbd.cluster import Cluster
from roost.engines.qemu.rbd.images import Images
from roost.engines.qemu.rbd.keys import Keys
from roost.engines.qemu.volumes import plugging
from roost.engines.qemu.volumes.sources import Opened, secret_name
from roost.resources.compute.engine import NoDisksError
from roost.threads import DISK

CONF = "ceph.conf"
"""Of a guest: where the cluster is, and nothing else."""
_AT_ONCE = 16
"""Guests that are asked at the same time."""
_CONF = """[global]
mon host = {mon_host}
[client]
rbd blocklist on break lock = false
log file = /dev/null
admin socket =
"""
_DOING = "The volume could not be opened"
_SEEN = "The volumes cannot be seen"


@dataclass(frozen=True, slots=True)
class RbdSource:
    """See VolumeSource; `state_dir` is that of the guests."""

    state_dir: Path
    cluster: Cluster

    @property
    def images(self) -> Images:
        return Images(self.cluster)

    @property
    def keys(self) -> Keys:
        return Keys(self.cluster)

    @asynccontextmanager
    async def opened(
        self, guest: Guest, volume_ids: Collection[int]
    ) -> AsyncIterator[Mapping[int, Opened]]:
        """See VolumeSource."""
        async with AsyncExitStack() as stack:
            for each in sorted(volume_ids):
                await stack.enter_async_context(self.locked(each))
            if volume_ids:
                await self._write_conf(guest)
            yield {each: await self._open(guest, each) for each in volume_ids}

    @asynccontextmanager
    async def locked(self, volume_id: int) -> AsyncIterator[Path]:
        """Nobody else of this host opens, changes or removes the volume until the end.

        What is held is an empty folder, which may be removed.
        """
        folder = self.state_dir / "images" / volume_name(volume_id)
        async with AsyncExitStack() as stack:
            while True:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                try:
                    await stack.enter_async_context(locked(folder))
                    break
                except FileNotFoundError:
                    continue
            yield folder

    async def clear(self, doing: str, name: str) -> None:
        """Let no client have the image open, once no guest has it: those that were killed."""
        await self.images.fence(doing, await self.images.watchers(name))

    async def holder(self, volume_id: int) -> int | None:
        """The running guest that has it."""
        if not await self.images.watchers(volume_name(volume_id)):
            return None
        return (await self.holders()).get(volume_id)

    async def holders(self) -> dict[int, int]:
        """Volumes that guests run with, and these. Raises EngineError."""
        running = await DISK.run(running_guests, self.state_dir)
        found, free = dict[int, int](), asyncio.Semaphore(_AT_ONCE)

        async def look(guest: Guest) -> None:
            async with free:
                names = await _nodes(guest)
            found.update({each: guest.id for each in map(volume_of, names) if each is not None})

        await asyncio.gather(*(look(guest) for guest, _ in running))
        return found

    async def _open(self, guest: Guest, volume_id: int) -> Opened:
        name = volume_name(volume_id)
        image = await self.images.find(name)
        if image is None:
            raise NoDisksError(f"The data of volume {volume_id} do not exist")
        holder = await self.holder(volume_id)
        if holder not in (None, guest.id):
            raise EngineError(f"Volume {volume_id} is in use by another instance")
        if holder is None:
            await self.clear(_DOING, name)
        secret = await self.keys.get(name, image.id)
        return Opened(volume_id, self._node(volume_id, name), secret=secret)

    def _node(self, volume_id: int, name: str) -> Options:
        """Writes are in the cluster when the guest is told so; nothing is kept here."""
        return {
            "driver": "rbd",
            "pool": self.cluster.pool,
            "namespace": self.cluster.namespace,
            "image": name,
            "conf": CONF,
            "user": self.keys.user(name),
            "key-secret": secret_name(volume_id),
            "auth-client-required": ["cephx"],
            "cache": {"direct": True},
        }

    async def _write_conf(self, guest: Guest) -> None:
        mon_host = (await self.cluster.setting(_DOING, "mon_host")).strip()
        guest.write(CONF, _CONF.format(mon_host=mon_host).encode())
        (guest.directory / CONF).chmod(0o644)


async def _nodes(guest: Guest) -> list[str]:
    """Nothing of a guest that went off meanwhile."""
    try:
        async with connected(guest.directory) as monitor:
            return await plugging.nodes(monitor)
    except MonitorError as error:
        if guest.process() is not None:
            raise failure(_SEEN, str(error)) from error
        return []
