"""Real guests under test: their engine, and a look at the host that does not ask the engine."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import DiskFile
from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.network.config import NetworkConfig, network_name, tap_name
from roost.engines.qemu.volumes.engine import QemuVolumes
from roost.engines.qemu.volumes.files import VolumeFile
from roost.engines.qemu.volumes.sources import VolumeSource
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import InstanceSpec
from roost.resources.volumes.engine import VolumeEngine
from tests.engines.harness import Pools, claim_pools, until
from tests.support.images import ensure_mini

MINI = "roost/mini"
_SECTOR = 512


class QemuHarness:
    """Guests of the small image, without hardware acceleration as on most test hosts."""

    image: str | None = MINI

    def __init__(self, state_dir: Path, images: ImageStore, pools: Pools) -> None:
        self.state_dir = state_dir
        self.pools = pools
        self.network = network_name(state_dir)
        self._images = images
        self.engine = self.reopen()
        self.volumes = self.reopen_volumes()

    def spec(self, compute_id: int) -> InstanceSpec:
        return self.pools.spec(compute_id)

    def reopen(self) -> QemuInstances:
        return self._instances(None)

    def _instances(self, volumes: VolumeSource | None) -> QemuInstances:
        network = NetworkConfig((self.pools.ipv4,), self.pools.ipv6)
        return QemuInstances(self.state_dir, self._images, network, "tcg", volumes=volumes)

    def reopen_volumes(self) -> VolumeEngine:
        return QemuVolumes(self.state_dir)

    async def write_disk(self, disk: DiskSpec, mark: str) -> None:
        found = self._disk(disk)
        with NamedTemporaryFile() as file:
            file.write(mark.encode().ljust(_SECTOR, b"\0"))
            file.flush()
            write = f"write -s {file.name} 0 {_SECTOR}"
            output("qemu-io", "-f", found.format, "-c", write, str(found.path))

    async def fill_disk(self, disk: DiskSpec, size: int) -> None:
        found = self._disk(disk)
        output("qemu-io", "-f", found.format, "-c", f"write -P 7 0 {size}M", str(found.path))

    async def read_disk(self, disk: DiskSpec) -> str:
        found = self._disk(disk)
        with NamedTemporaryFile() as file:
            files = (f"if={found.path}", f"of={file.name}")
            take = ("dd", "-f", found.format, "-O", "raw", f"bs={_SECTOR}", "count=1", *files)
            output("qemu-img", *take)
            return file.read(_SECTOR).strip(b"\0").decode()

    def _disk(self, disk: DiskSpec) -> DiskFile:
        found = Guest(self.state_dir, disk.compute_id).disk(disk.id).find()
        assert found is not None
        return found

    async def write_volume(self, volume_id: int, mark: str) -> None:
        with VolumeFile(self.state_dir, volume_id).data.open("r+b") as file:
            file.write(mark.encode().ljust(_SECTOR, b"\0"))

    async def read_volume(self, volume_id: int) -> str:
        with VolumeFile(self.state_dir, volume_id).data.open("rb") as file:
            return file.read(_SECTOR).strip(b"\0").decode()

    async def crash(self, compute_id: int) -> None:
        process = Guest(self.state_dir, compute_id).process()
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)

        async def alive() -> bool:
            return process.alive()

        await until(alive, lambda alive: not alive)

    async def remains(self, compute_id: int) -> list[str]:
        return await asyncio.to_thread(self._remains, compute_id)

    def _remains(self, compute_id: int) -> list[str]:
        processes = processes_with(f"{self.network}.compute-{compute_id}")
        files = [str(path) for path in self.state_dir.glob(f"*{compute_id}*")]
        return [*map(str, processes), *files, *self._network_remains(compute_id)]

    def _network_remains(self, compute_id: int) -> list[str]:
        namespace = Path("/run/netns", self.network)
        if not namespace.exists():
            return []
        devices = output("ip", "-n", self.network, "-brief", "link").split()
        rules = output("nsenter", f"--net={namespace}", "nft", "list", "ruleset").splitlines()
        return [
            *(name for name in devices if name == tap_name(compute_id)),
            *(line for line in rules if str(compute_id) in line),
        ]


async def open_qemu(state_dir: Path) -> QemuHarness:
    """Needs root; whatever else is missing is a failure."""
    if os.geteuid() != 0:
        pytest.skip("virtual machines with networks need root")
    return QemuHarness(state_dir, await asyncio.to_thread(ensure_mini), claim_pools())


def processes_with(text: str) -> list[int]:
    """Live processes with the text in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
