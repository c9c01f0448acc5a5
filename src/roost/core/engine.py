"""What all data planes have in common: how they fail, how they are, and what hosts have left."""

from dataclasses import dataclass
from typing import Literal

from roost.errors import ShownError

_GB = 1 << 30


class EngineError(ShownError):
    """A fault of the data plane; the text is shown to the user in the event's message."""


class FullError(EngineError):
    """The host has no room for what was to be made or started; a person has to make some."""

    lasting = True


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the data plane can serve, and how (`QEMU 7.2, TCG`) or why not."""

    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Folder:
    """Where guests, volumes or backups are on a host; one stands for each file system. Bytes."""

    path: str
    free: int
    size: int


Room = Literal["enough", "low", "nearly full"]


def room_of(folder: Folder) -> Room:
    """Large disks are low later than at a tenth, small ones earlier."""
    if folder.free < max(_GB // 4, min(folder.size // 50, 4 * _GB)):
        return "nearly full"
    if folder.free < max(_GB, min(folder.size // 10, 20 * _GB)):
        return "low"
    return "enough"


@dataclass(frozen=True, slots=True)
class Host:
    """What a data plane's host has left."""

    folders: tuple[Folder, ...]
    memory_free: int
    """Bytes that programs can get without swapping."""
    memory: int
    """Bytes"""
    cpus: int | None = None
    """Processors that guests share; None: not known."""
