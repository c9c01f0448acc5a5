"""A control plane killed at any moment of its work leaves nothing that the next cannot use."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.engines.qemu_host import QemuHarness, open_qemu
from tests.support.images import image_root

pytestmark = pytest.mark.qemu

_PROGRAM = """
import asyncio, sys
from pathlib import Path
from roost.engines.qemu.images.store import ImageStore
from tests.engines.qemu_host import QemuHarness

async def main():
    harness = QemuHarness(Path(sys.argv[1]), ImageStore(Path(sys.argv[2])))
    spec = harness.spec(100_001)
    print("ready", flush=True)
    await harness.engine.create(spec)
    await harness.engine.start(spec)
    await harness.engine.delete(spec.id)

asyncio.run(main())
"""


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path_factory.mktemp("crash"))
    yield harness
    await harness.engine.shut_down()


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.25])
async def test_the_next_control_plane_takes_over(harness: QemuHarness, moment: float) -> None:
    """`moment`: seconds of work before the kill."""
    await _work_until_killed(harness.state_dir, moment)
    spec = harness.spec(100_001)
    await harness.engine.create(spec)
    await harness.engine.start(spec)
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert state.power == "running"
    await harness.engine.delete(spec.id)
    assert await harness.remains(spec.id) == []


@pytest.mark.parametrize("moment", [0.02, 0.06, 0.12, 0.2])
async def test_what_the_dead_one_left_can_be_deleted(harness: QemuHarness, moment: float) -> None:
    await _work_until_killed(harness.state_dir, moment)
    await harness.engine.delete(100_001)
    assert await harness.remains(100_001) == []


async def _work_until_killed(state_dir: Path, moment: float) -> None:
    command = (sys.executable, "-c", _PROGRAM, state_dir, image_root())
    process = await asyncio.create_subprocess_exec(
        *command, cwd=Path(__file__).parents[2], stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    await asyncio.sleep(moment)
    if process.returncode is None:
        process.kill()
    await process.wait()
