"""A control plane killed while it works on volumes of a running guest leaves nothing behind."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.volumes.files import VolumeFile, holders
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.harness import Pools, ignore, root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu
from tests.support.images import image_root

pytestmark = pytest.mark.qemu

GUEST, SOURCE, COPY = 100_001, 100_002, 100_003
_CONTENT = bytes(range(256)) * 4096 * 24
"""24 MB, which take a while to copy."""

_PROGRAM = """
import sys
from pathlib import Path
import uvloop
from tests.engines.test_qemu_volumes_crash import begin

uvloop.run(begin(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
"""


async def begin(state_dir: Path, images: Path, number: int) -> None:
    harness = QemuHarness(state_dir, ImageStore(images), Pools(number))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await work(harness)


async def work(harness: QemuHarness) -> None:
    """In the end the guest has the copy only."""
    volumes = harness.volumes
    await volumes.create(VolumeSpec(SOURCE, 1))
    await asyncio.to_thread(_write, harness)
    await volumes.plug(SOURCE, "source", GUEST)
    await volumes.copy(SOURCE, VolumeSpec(COPY, 2), ignore)
    await volumes.plug(COPY, "copy", GUEST)
    await volumes.resize(VolumeSpec(COPY, 3))
    await volumes.unplug(SOURCE, GUEST)


def _write(harness: QemuHarness) -> None:
    with VolumeFile(harness.state_dir, SOURCE).data.open("r+b") as file:
        file.write(_CONTENT)


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path_factory.mktemp("crash"))
    await harness.engine.disks.make(root_disk(harness, GUEST))
    await harness.engine.start(harness.spec(GUEST))
    yield harness
    await harness.engine.shut_down()


@pytest_asyncio.fixture
async def killed(harness: QemuHarness, moment: float) -> AsyncIterator[None]:
    """The control plane is, after so many seconds, if its work has not come to its end by then.

    The volumes are gone afterwards.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _PROGRAM),
        *(harness.state_dir, image_root(), str(harness.pools.number)),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    try:
        assert await asyncio.wait_for(process.wait(), moment) == 0
    except TimeoutError:
        process.kill()
        await process.wait()
    yield
    await _remove(harness)
    assert await harness.volumes.list() == []
    assert _open_volumes(harness) == []


async def _remove(harness: QemuHarness) -> None:
    for volume_id in (SOURCE, COPY):
        await harness.volumes.unplug(volume_id, GUEST)
        await harness.volumes.delete(volume_id)


def _open_volumes(harness: QemuHarness) -> list[str]:
    """Which files of volumes the guest's QEMU has open, also deleted ones."""
    folder = str(harness.state_dir / "volumes")
    return [path for path in holders(harness.state_dir) if path.startswith(folder)]


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.06, 0.1, 0.2, 60.0])
@pytest.mark.usefixtures("killed")
async def test_the_next_control_plane_takes_over(harness: QemuHarness) -> None:
    await work(harness)
    assert await harness.volumes.list() == [
        VolumeState(SOURCE, 1, None),
        VolumeState(COPY, 3, GUEST),
    ]
    file = VolumeFile(harness.state_dir, COPY).data
    assert _open_volumes(harness) == [str(file)]
    with file.open("rb") as copy:
        assert copy.read(len(_CONTENT)) == _CONTENT


@pytest.mark.parametrize("moment", [0.05, 0.15])
@pytest.mark.usefixtures("killed")
async def test_what_the_dead_one_left_can_be_deleted(harness: QemuHarness) -> None:
    await _remove(harness)
    assert await harness.volumes.list() == []
