"""Where volumes are on the host, and which guest's QEMU has one open."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.qemu.guests.directory import running_guests
from roost.engines.qemu.host.files import sync
from roost.resources.compute.engine import NoDisksError
from roost.threads import DISK

DATA = "data.raw"
PARTIAL = "data.raw.part"
"""A copy that has not come to its end."""

_NAME = re.compile(r"volume-(\d+)")
_GB = 1 << 30


@dataclass(frozen=True, slots=True)
class VolumeFile:
    """The directory of one volume of the engine whose state is in `state_dir`.

    Everything in it belongs to root: QEMU is handed an open file.
    """

    state_dir: Path
    id: int

    @property
    def directory(self) -> Path:
        return self.state_dir / "volumes" / f"volume-{self.id}"

    @property
    def data(self) -> Path:
        return self.directory / DATA

    @property
    def partial(self) -> Path:
        return self.directory / PARTIAL

    def exists(self) -> bool:
        """Whether anything of it does, though it be only begun."""
        return self.data.exists() or self.partial.exists()

    def size(self) -> int:
        """GiB; 0 when it is only begun."""
        try:
            return self.data.stat().st_size // _GB
        except FileNotFoundError:
            return 0

    def open(self, compute_id: int, held: Mapping[str, int]) -> int:
        """A descriptor for the QEMU of a guest, which the caller closes; `held` as of `holders`.

        NoDisksError when the file does not exist; EngineError when another running guest has it.
        """
        try:
            descriptor = os.open(self.data, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            raise NoDisksError(f"The data of volume {self.id} do not exist") from None
        if held.get(str(self.data), compute_id) != compute_id:
            os.close(descriptor)
            raise EngineError(f"Volume {self.id} is in use by another instance")
        return descriptor

    async def holder(self) -> int | None:
        """The running guest that has it open."""
        return (await DISK.run(holders, self.state_dir)).get(str(self.data))

    def put(self) -> None:
        """Let the partial file be the volume, for good."""
        self.partial.replace(self.data)
        sync(self.data, self.directory, self.directory.parent, self.state_dir)

    def remove(self) -> None:
        shutil.rmtree(self.directory)


def all_volumes(state_dir: Path) -> list[VolumeFile]:
    """By id."""
    try:
        names = os.listdir(state_dir / "volumes")
    except FileNotFoundError:
        return []
    matches = (_NAME.fullmatch(name) for name in names)
    files = (VolumeFile(state_dir, number) for number in sorted(int(m[1]) for m in matches if m))
    return [file for file in files if file.exists()]


def holders(state_dir: Path) -> dict[str, int]:
    """Open files below `state_dir`, and the running guest whose QEMU has each of them open.

    The processes tell the truth, also about what a killed control plane began. It reads much of
    /proc: in a thread, and once for all files that are asked for.
    """
    found: dict[str, int] = {}
    for guest, process in running_guests(state_dir):
        found.update((path, guest.id) for path in _open_files(process.pid))
    return found


def _open_files(pid: int) -> Iterator[str]:
    """Nothing of a process that has ended meanwhile."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except FileNotFoundError:
        return
    for name in names:
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:
            continue
