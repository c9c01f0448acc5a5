"""Images of a region's namespace, each asked for by the name that derives from an id of ours."""

import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from roost.engines.qemu.rbd.cluster import EXISTS, MISSING, Cluster
from roost.resources.compute.disk_engine import Progress

_FEATURES = "layering,exclusive-lock,object-map,fast-diff,deep-flatten"
_PERCENT = re.compile(r"(\d{1,3})% complete")
_FENCED_SECONDS = 3600
"""By then a process that has lost its image is long gone."""
_SEEN = "The volumes cannot be seen"


class Image(BaseModel):
    """What `rbd info` says."""

    id: str
    size: int
    """Bytes"""
    snapshot_count: int


class Listed(BaseModel):
    """What `rbd ls --long` says of an image, or of a snapshot of one."""

    image: str
    size: int
    """Bytes"""
    snapshot: str | None = None


class _Watcher(BaseModel):
    address: str


class _Status(BaseModel):
    watchers: list[_Watcher]


_LISTED = TypeAdapter(list[Listed])


@dataclass(frozen=True, slots=True)
class Images:
    """Every method may raise EngineError."""

    cluster: Cluster

    async def find(self, name: str) -> Image | None:
        words = ("info", "--format", "json", self.cluster.image(name))
        code, out = await self.cluster.rbd(_SEEN, *words, ok=(0, MISSING))
        return None if code == MISSING else Image.model_validate_json(out)

    async def all(self) -> list[Listed]:
        """With snapshots; nothing where the namespace is not there yet."""
        words = ("ls", "--long", "--format", "json", self.cluster.place)
        code, out = await self.cluster.rbd(_SEEN, *words, ok=(0, MISSING))
        return [] if code == MISSING else _LISTED.validate_json(out)

    async def create(self, doing: str, name: str, size: int) -> None:
        """An empty one of so many bytes; one that is there stays."""
        image, bytes_ = self.cluster.image(name), f"{size}B"
        words = ("create", "--size", bytes_, "--image-feature", _FEATURES, image)
        code, _ = await self.cluster.rbd(doing, *words, ok=(0, EXISTS, MISSING))
        if code == MISSING:
            await self.open_namespace(doing)
            await self.cluster.rbd(doing, *words, ok=(0, EXISTS))

    async def open_namespace(self, doing: str) -> None:
        """Make the region's, unless it is there."""
        await self.cluster.rbd(doing, "namespace", "create", self.cluster.place, ok=(0, EXISTS))

    async def resize(self, doing: str, name: str, size: int) -> None:
        """Grow it to so many bytes."""
        words = ("resize", "--no-progress", "--size", f"{size}B", self.cluster.image(name))
        await self.cluster.rbd(doing, *words)

    async def rename(self, doing: str, name: str, new: str) -> None:
        await self.cluster.rbd(doing, "rename", self.cluster.image(name), self.cluster.image(new))

    async def copy(self, doing: str, source: str, target: str, progress: Progress) -> None:
        """Make `target` with what is in `source`, which may be a snapshot (`image@name`)."""

        async def listen(text: str) -> None:
            if found := _PERCENT.findall(text):
                await progress(min(100, int(found[-1])))

        names = (self.cluster.image(source), self.cluster.image(target))
        await self.cluster.rbd(doing, "cp", *names, seconds=None, heard=listen)

    async def take_snapshot(self, doing: str, name: str, snapshot: str) -> None:
        """Of this moment, in place of one of that name."""
        place = self.cluster.image(f"{name}@{snapshot}")
        await self.drop_snapshot(doing, name, snapshot)
        await self.cluster.rbd(doing, "snap", "create", "--no-progress", place)

    async def drop_snapshot(self, doing: str, name: str, snapshot: str) -> None:
        """Nothing happens when there is none."""
        place = self.cluster.image(f"{name}@{snapshot}")
        await self.cluster.rbd(doing, "snap", "rm", "--no-progress", place, ok=(0, MISSING))

    async def remove(self, doing: str, name: str) -> None:
        """With its snapshots; nothing happens when there is none. BusyError while it is open."""
        found = await self.find(name)
        if found is None:
            return
        image = self.cluster.image(name)
        if found.snapshot_count:
            await self.cluster.rbd(doing, "snap", "purge", "--no-progress", image)
        words = ("rm", "--no-progress", image)
        await self.cluster.rbd(doing, *words, ok=(0, MISSING), seconds=None)

    async def beginning(self, image_id: str, folder: Path) -> Path:
        """A file in `folder` with the first 4 MiB of an image, as far as they are written."""
        path = folder / "beginning"
        words = ("get", f"rbd_data.{image_id}.{0:016x}", str(path))
        if await self.cluster.rados(_SEEN, *words, ok=(0, 1, MISSING)):
            path.write_bytes(b"")
        return path

    async def watchers(self, name: str) -> list[str]:
        """Addresses of the clients that have it open."""
        words = ("status", "--format", "json", self.cluster.image(name))
        code, out = await self.cluster.rbd(_SEEN, *words, ok=(0, MISSING))
        if code == MISSING:
            return []
        return [each.address for each in _Status.model_validate_json(out).watchers]

    async def fence(self, doing: str, addresses: list[str]) -> None:
        """Let these clients write nothing more, whatever their hosts do."""
        for address in addresses:
            await self.cluster.ceph(doing, "osd", "blocklist", "add", address, str(_FENCED_SECONDS))
