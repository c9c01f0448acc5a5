"""What volumes need from a data plane.

An implementation keeps no truth of its own about what should exist or be attached. All methods are
idempotent; names on the host derive from the volume's id (`volume-100001`). Every method may raise
EngineError.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from roost.core.engine import Health
from roost.core.planes import Plane
from roost.resources.compute.disk_engine import Progress


@dataclass(frozen=True, slots=True)
class VolumeSpec:
    """A volume as it should be."""

    id: int
    size: int
    """GiB"""

    @property
    def name(self) -> str:
        return f"volume-{self.id}"


@dataclass(frozen=True, slots=True)
class VolumeState:
    """A volume as it is."""

    id: int
    size: int
    """GiB; 0 of one that is only begun."""
    compute_id: int | None
    """The running guest that has it plugged in."""


class VolumeEngine(Protocol):
    """One data plane for volumes; its guests are those of the region's InstanceEngine."""

    @property
    def name(self) -> str:
        """By which volumes remember who holds their data."""

    async def create(self, volume: VolumeSpec) -> None:
        """Make an empty volume. One that is there is left alone."""

    async def copy(self, source_id: int, target: VolumeSpec, progress: Progress) -> None:
        """Make `target` with the data of a volume as of one moment, also of one that is in use.

        A `target` that is complete stays; one that was only begun is made anew.
        """

    async def resize(self, volume: VolumeSpec) -> None:
        """Grow a volume; a running guest that has it sees the new size at once. Never shrinks."""

    async def delete(self, volume_id: int) -> None:
        """Remove a volume and its data. EngineError while a running guest has it."""

    async def plug(self, volume_id: int, label: str, compute_id: int) -> None:
        """Give a running guest the volume as `/dev/disk/by-id/scsi-0Roost_Volume_<label>`.

        Nothing happens when the guest has it already, or does not run: it gets its volumes from
        its specification when it starts. EngineError when another running guest has it.
        """

    async def unplug(self, volume_id: int, compute_id: int) -> None:
        """Take the volume from a running guest, with all that was written to it.

        Nothing happens when the guest does not have it. MountedError when the guest still uses it
        and nothing was changed.
        """

    async def take(self, volume_id: int, source: "VolumeEngine") -> None:
        """Take a volume over from another engine, as InstanceEngine.take does with a guest.

        EngineError while a running guest has it.
        """

    def pack(self, volume_id: int) -> AsyncGenerator[bytes, None]:
        """A volume's data for `unpack` of another host's engine of this name. EngineError while a
        guest runs with it."""

    async def unpack(self, volume_id: int, content: AsyncIterator[bytes]) -> None:
        """Keep what was packed, for good, in place of what an earlier attempt left."""

    async def inspect(self, volume_id: int) -> VolumeState | None:
        """None when nothing of it exists."""

    async def list(self) -> list[VolumeState]:
        """All volumes that this engine holds, by id."""

    async def health(self) -> Health: ...

    async def close(self) -> None:
        """Let go of the data plane."""


VOLUME_PLANE: Plane[VolumeEngine] = Plane("volumes")
