"""The directory of a guest: everything that is known of it, for whichever process asks."""

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from roost.engines.processes import Process, find_process, search_process
from roost.engines.qemu.images.store import INFO, GuestImage, ImageInfo
from roost.engines.qemu.network.config import network_name
from roost.resources.compute.engine import InstanceSpec, InstanceState, Power

ROOT = "root.qcow2"
SWAP = "swap.raw"
IMAGE = "image"
SEED = "seed.iso"
FIRMWARE = "fw_cfg"
MONITOR = "qmp.sock"
PID = "pid"
CONSOLE = "console.log"
_SIZE = "size.json"

_NAME = re.compile(r"compute-(\d+)")
_QCOW2_SIZE = struct.Struct(">24xQ")
_MB = 1024 * 1024


class _Size(BaseModel):
    """Memory (MB) and vCPUs as last asked for; zero in a guest that is only begun."""

    memory: int = 0
    vcpus: int = 0


@dataclass(frozen=True, slots=True)
class Guest:
    """One guest of the engine whose state is in `state_dir`."""

    state_dir: Path
    id: int

    @property
    def directory(self) -> Path:
        return self.state_dir / f"compute-{self.id}"

    @property
    def marker(self) -> str:
        """The argument by which its process is told from all others of the host."""
        return f"{network_name(self.state_dir)}.compute-{self.id}"

    def process(self, search: bool = False) -> Process | None:
        """Its QEMU while that runs; a `search` also finds one that has no pid file yet."""
        found = find_process(self.directory / PID, self.marker)
        return search_process(self.marker) if search and found is None else found

    def exists(self) -> bool:
        return self.directory.is_dir()

    def ready(self) -> bool:
        """Whether its creation came to an end."""
        return (self.directory / ROOT).exists()

    def image(self) -> GuestImage | None:
        """Its own copy of the image; None for a guest that began with an empty disk."""
        directory = self.directory / IMAGE
        try:
            text = (directory / INFO).read_text()
        except FileNotFoundError:
            return None
        return GuestImage(ImageInfo.model_validate_json(text), directory)

    def write_size(self, spec: InstanceSpec) -> None:
        size = _Size(memory=spec.memory, vcpus=spec.vcpus)
        self.write(_SIZE, size.model_dump_json().encode())

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole or not at all; only the host's root may read it."""
        target = self.directory / name
        partial = target.with_name(f"{target.name}.part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        partial.replace(target)

    def disk_size(self) -> int:
        """MB of the root disk; 0 while there is none."""
        try:
            with (self.directory / ROOT).open("rb") as file:
                size: int = _QCOW2_SIZE.unpack(file.read(_QCOW2_SIZE.size))[0]
        except FileNotFoundError:
            return 0
        return size // _MB

    def state(self) -> InstanceState | None:
        """None when nothing of the guest exists."""
        if not self.exists():
            return None
        try:
            size = _Size.model_validate_json((self.directory / _SIZE).read_bytes())
        except FileNotFoundError:
            size = _Size()
        power: Power = "offline" if self.process() is None else "running"
        return InstanceState(self.id, power, size.memory, size.vcpus, self.disk_size())


def all_guests(state_dir: Path) -> list[Guest]:
    """By id."""
    if not state_dir.is_dir():
        return []
    matches = (_NAME.fullmatch(path.name) for path in state_dir.iterdir())
    return [Guest(state_dir, number) for number in sorted(int(m[1]) for m in matches if m)]
