"""Guests whose volumes are in a storage cluster: that of `scripts/ceph-lab`."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.rbd.cluster import Cluster
from roost.engines.qemu.volumes.rbd_engine import RbdVolumes
from roost.engines.qemu.volumes.rbd_source import RbdSource
from tests.engines.harness import Pools, claim_pools
from tests.engines.qemu_host import QemuHarness, output
from tests.support.images import ensure_mini

_SCRIPT = Path(__file__).parents[2] / "scripts/ceph-lab"
_SECTOR = 512
_SECONDS = 300


@contextmanager
def lab(folder: Path) -> Iterator[Path]:
    """The configuration file of a cluster that runs until the block ends."""
    command = [sys.executable, str(_SCRIPT)]
    state = ["--state", str(folder)]
    try:
        subprocess.run([*command, "up", *state], check=True, timeout=_SECONDS)
        yield folder / "ceph.conf"
    finally:
        subprocess.run([*command, "down", *state], check=True, timeout=_SECONDS)


class CephHarness(QemuHarness):
    """Guests of the small image on files, their volumes in a namespace of the cluster."""

    def __init__(self, state_dir: Path, images: ImageStore, pools: Pools, conf: Path) -> None:
        self.cluster = Cluster(conf, "roost", "roost", f"region{pools.number}")
        super().__init__(state_dir, images, pools)

    @property
    def source(self) -> RbdSource:
        return RbdSource(self.state_dir, self.cluster)

    def reopen(self) -> QemuInstances:
        return self._instances(self.source)

    def reopen_volumes(self) -> RbdVolumes:
        return RbdVolumes(self.state_dir, self.cluster)

    async def write_volume(self, volume_id: int, mark: str) -> None:
        with NamedTemporaryFile() as file:
            file.write(mark.encode().ljust(_SECTOR, b"\0"))
            file.flush()
            write = f"write -s {file.name} 0 {_SECTOR}"
            take = ("qemu-io", "-f", "raw", "-c", write, self._place(volume_id))
            await asyncio.to_thread(output, *take)

    async def read_volume(self, volume_id: int) -> str:
        with NamedTemporaryFile() as file:
            files = (f"if={self._place(volume_id)}", f"of={file.name}")
            take = ("dd", "-U", "-f", "raw", "-O", "raw", f"bs={_SECTOR}", "count=1", *files)
            await asyncio.to_thread(output, "qemu-img", *take)
            return file.read(_SECTOR).strip(b"\0").decode()

    def _place(self, volume_id: int) -> str:
        image = self.cluster.image(f"volume-{volume_id}")
        return f"rbd:{image}:conf={self.cluster.conf}:id={self.cluster.user}"


@asynccontextmanager
async def open_ceph(state_dir: Path, conf: Path) -> AsyncIterator[CephHarness]:
    """Until the end of the block. Needs root; whatever else is missing is a failure."""
    images = await asyncio.to_thread(ensure_mini)
    harness = CephHarness(state_dir, images, claim_pools(), conf)
    try:
        yield harness
    finally:
        await harness.engine.shut_down()
        await harness.engine.close()
        await harness.volumes.close()
