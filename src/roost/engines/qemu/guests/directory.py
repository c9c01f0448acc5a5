"""The directory of a guest: everything that is known of it, for whichever process asks."""

import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from roost.engines.processes import Process, find_process, host_start, search_process
from roost.engines.qemu.guests.disk_files import MB, Place, disk_ids
from roost.engines.qemu.network.config import network_name
from roost.resources.compute.disk_engine import DiskState
from roost.resources.compute.engine import (
    DiskDevice,
    InstanceSpec,
    InstanceState,
    Power,
    Slot,
)
from roost.resources.compute.network_engine import PublicLink

SEED = "seed.iso"
FIRMWARE = "fw_cfg"
RESCUE_IMAGE = "rescue.image"
RESCUE_DISK = "rescue.qcow2"
MONITOR = "qmp.sock"
PID = "pid"
CONSOLE = "console.log"
TERMINAL = "console.sock"
"""Both ways; what the guest writes is in the log as well."""
BOOT = "boot.json"

_NAME = re.compile(r"(compute|arriving)-(\d+)")
_SHAPE = TypeAdapter(tuple[int, int, bool, Slot | None, list[DiskDevice], list[str]])


class LastBoot(BaseModel):
    """What a guest was last started with; nothing before its first start."""

    memory: int = 0
    """MB"""
    vcpus: int = 0
    disks: list[int] = []
    host: str = ""
    """When the host was started on which that was: guests of an earlier start went off with it."""
    halted: bool = False
    """Whether the guest was stopped since with all others of the host."""
    shape: str = ""
    """The digest of its machine (`shape_of`); empty when an earlier release has started it."""

    @property
    def interrupted(self) -> bool:
        """Whether it is off because its host went down, and is to be started again."""
        return self.halted or self.host not in ("", host_start())


@dataclass(frozen=True, slots=True)
class Guest:
    """One guest of the engine whose state is in `state_dir`."""

    state_dir: Path
    id: int
    arriving: bool = False
    """Whether it is one that another host is about to send here."""

    @property
    def directory(self) -> Path:
        return self.state_dir / f"{'arriving' if self.arriving else 'compute'}-{self.id}"

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

    def disk(self, disk_id: int) -> Place:
        return Place(self.directory, disk_id)

    def disk_state(self, disk_id: int) -> DiskState:
        """How the disk is; the size of one that is only begun, or goes meanwhile, is 0."""
        try:
            found = self.disk(disk_id).find()
            size = 0 if found is None else found.size()
        except FileNotFoundError:
            size = 0
        return DiskState(disk_id, self.id, size // MB)

    def last_boot(self) -> LastBoot:
        try:
            return LastBoot.model_validate_json((self.directory / BOOT).read_bytes())
        except FileNotFoundError:
            return LastBoot()

    def write_boot(self, spec: InstanceSpec, disks: Collection[int]) -> None:
        boot = LastBoot(
            memory=spec.memory,
            vcpus=spec.vcpus,
            disks=sorted(disks),
            host=host_start(),
            shape=shape_of(spec),
        )
        self.write(BOOT, boot.model_dump_json().encode())

    def note_halt(self) -> None:
        """Remember that it does not go off by itself."""
        boot = self.last_boot().model_copy(update={"halted": True})
        self.write(BOOT, boot.model_dump_json().encode())

    def disks_in_use(self) -> Collection[int]:
        """The ids of disks that it runs with."""
        return () if self.process() is None else self.last_boot().disks

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole or not at all; only the host's root may read it."""
        target = self.directory / name
        partial = target.with_name(f"{target.name}.part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        partial.replace(target)

    def state(self) -> InstanceState | None:
        """None when nothing of the guest exists."""
        if not self.exists():
            return None
        boot = self.last_boot()
        process = self.process()
        power: Power = "offline" if process is None else "running"
        pid = None if process is None else process.pid
        disks = tuple(self.disk_state(each) for each in disk_ids(self.directory))
        interrupted = power == "offline" and boot.interrupted
        return InstanceState(self.id, power, boot.memory, boot.vcpus, disks, interrupted, pid)


def shape_of(spec: InstanceSpec) -> str:
    """A digest of all that is of the machine itself: only one of the same can go on with a guest.

    Volumes come and go while it runs.
    """
    disks = [each for each in spec.devices if isinstance(each, DiskDevice)]
    macs = [spec.mac if isinstance(link, PublicLink) else link.mac for link in spec.links]
    parts = (spec.vcpus, spec.memory, spec.rescue, spec.root, disks, macs)
    return hashlib.sha256(_SHAPE.dump_json(parts)).hexdigest()


def all_guests(state_dir: Path) -> list[Guest]:
    """All guests by id, but for those that arrive."""
    return [Guest(state_dir, number) for number in _ids(state_dir, "compute")]


def arriving_ids(state_dir: Path) -> list[int]:
    """The ids of guests that other hosts are about to send here."""
    return _ids(state_dir, "arriving")


def _ids(state_dir: Path, kind: str) -> list[int]:
    if not state_dir.is_dir():
        return []
    matches = (_NAME.fullmatch(path.name) for path in state_dir.iterdir())
    return sorted(int(match[2]) for match in matches if match and match[1] == kind)


def running_guests(state_dir: Path) -> list[tuple[Guest, Process]]:
    """The guests that run, with their processes, by id."""
    found = ((guest, guest.process()) for guest in all_guests(state_dir))
    return [(guest, process) for guest, process in found if process is not None]
