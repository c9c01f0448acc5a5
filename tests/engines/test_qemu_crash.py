"""A control plane killed at any moment of its work leaves nothing that the next cannot use."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.engines.harness import root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu
from tests.support.images import image_root

pytestmark = pytest.mark.qemu

_PROGRAM = """
import sys
from pathlib import Path
import uvloop
from roost.engines.qemu.images.store import ImageStore
from tests.engines.harness import Pools, root_disk
from tests.engines.qemu_host import QemuHarness

async def main():
    state_dir, images, number = sys.argv[1:]
    harness = QemuHarness(Path(state_dir), ImageStore(Path(images)), Pools(int(number)))
    spec = harness.spec(100_001)
    print("ready", flush=True)
    await harness.engine.disks.make(root_disk(harness, spec.id))
    await harness.engine.start(spec)
    assert await harness.engine.counters(spec.id) is not None
    await harness.engine.delete(spec.id)

uvloop.run(main())
"""


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path_factory.mktemp("crash"))
    yield harness
    await harness.engine.shut_down()


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.25])
async def test_the_next_control_plane_takes_over(harness: QemuHarness, moment: float) -> None:
    """`moment`: seconds of work before the kill."""
    await _work_until_killed(harness, moment)
    spec = harness.spec(100_001)
    await harness.engine.disks.make(root_disk(harness, spec.id))
    await harness.engine.start(spec)
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert state.power == "running"
    await harness.engine.delete(spec.id)
    assert await harness.remains(spec.id) == []


@pytest.mark.parametrize("moment", [0.02, 0.06, 0.12, 0.2])
async def test_what_the_dead_one_left_can_be_deleted(harness: QemuHarness, moment: float) -> None:
    await _work_until_killed(harness, moment)
    await harness.engine.delete(100_001)
    assert await harness.remains(100_001) == []


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
