"""A control plane killed at any moment of its work leaves nothing that the next cannot use."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.resources.compute.disk_engine import DiskSpec
from tests.engines.harness import ignore, root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu
from tests.support.images import image_root

pytestmark = pytest.mark.qemu

_PROGRAM = """
import sys
from pathlib import Path
import uvloop
from roost.engines.qemu.images.store import ImageStore
from tests.engines.harness import Pools, counters_of
from tests.engines.qemu_host import QemuHarness
from tests.engines.test_qemu_crash import remove, work

async def main():
    state_dir, images, number = sys.argv[1:]
    harness = QemuHarness(Path(state_dir), ImageStore(Path(images)), Pools(int(number)))
    print("ready", flush=True)
    await work(harness)
    assert await counters_of(harness.engine, 100_001) is not None
    await remove(harness)

uvloop.run(main())
"""


async def work(harness: QemuHarness) -> None:
    """A guest with a disk of each origin, one of them restored from a backup."""
    disks, backups, spec = harness.engine.disks, harness.engine.backups, harness.spec(100_001)
    root = root_disk(harness, spec.id)
    copy, restored = replace(root, id=100_002), replace(root, id=100_003)
    data = DiskSpec(100_004, spec.id, 32, "ext4")
    for disk in (root, data):
        await disks.make(disk)
    await disks.copy(root, copy, ignore)
    await backups.save(spec.id, [root, copy], ignore)
    await backups.restore(spec.id, copy.id, restored, ignore)
    await disks.resize(replace(data, size=48))
    await harness.engine.start(spec)


async def remove(harness: QemuHarness) -> None:
    await harness.engine.delete(100_001)
    await harness.engine.backups.delete(100_001)


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path_factory.mktemp("crash"))
    yield harness
    await harness.engine.shut_down()


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5])
async def test_the_next_control_plane_takes_over(harness: QemuHarness, moment: float) -> None:
    """`moment`: seconds of work before the kill."""
    await _work_until_killed(harness, moment)
    await work(harness)
    state = await harness.engine.inspect(100_001)
    assert state is not None
    assert state.power == "running"
    assert [disk.size for disk in state.disks] == [64, 64, 64, 48]
    await remove(harness)
    assert await harness.remains(100_001) == []


@pytest.mark.parametrize("moment", [0.02, 0.06, 0.12, 0.2, 0.4])
async def test_what_the_dead_one_left_can_be_deleted(harness: QemuHarness, moment: float) -> None:
    await _work_until_killed(harness, moment)
    await remove(harness)
    assert await harness.remains(100_001) == []
    assert await harness.engine.backups.list() == []


async def test_undisturbed_it_comes_to_its_end(harness: QemuHarness) -> None:
    """The server's event loop is not the one of the other tests."""
    process = await _work(harness)
    assert await process.wait() == 0
    assert await harness.remains(100_001) == []


async def _work_until_killed(harness: QemuHarness, moment: float) -> None:
    process = await _work(harness)
    await asyncio.sleep(moment)
    if process.returncode is None:
        process.kill()
    await process.wait()


async def _work(harness: QemuHarness) -> asyncio.subprocess.Process:
    """A control plane that begins to work."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _PROGRAM),
        *(harness.state_dir, image_root(), str(harness.pools.number)),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process
