"""The contract of guests and volumes that go from one region's engine to another's."""

import errno
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.resources.compute.disk_engine import BackupState, DiskSpec
from roost.resources.compute.engine import InstanceEngine, InstanceSpec
from roost.resources.volumes.engine import VolumeEngine, VolumeSpec, VolumeState
from tests.engines.conftest import ids
from tests.engines.harness import Harness, SimulatedHarness, ignore, root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu


@pytest_asyncio.fixture(scope="module")
async def elsewhere(
    harness: Harness, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Harness]:
    """Another region of the same kind."""
    state_dir = tmp_path_factory.mktemp("elsewhere")
    other: Harness = SimulatedHarness(state_dir)
    if isinstance(harness, QemuHarness):
        other = await open_qemu(state_dir)
    yield other
    await other.engine.shut_down()
    await other.engine.close()
    await other.volumes.close()


@pytest_asyncio.fixture
async def disk(harness: Harness, elsewhere: Harness, spec: InstanceSpec) -> AsyncIterator[DiskSpec]:
    """Of a guest that is off."""
    disk = DiskSpec(next(ids), spec.id, 8, "raw")
    await harness.engine.disks.make(disk)
    await harness.write_disk(disk, "written before")
    yield disk
    await elsewhere.engine.delete(spec.id)


@pytest.fixture(params=["the same file system", "another file system"])
def file_systems(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename that the host refuses is what tells one from the other."""

    def refuse(source: Path, target: Path) -> Path:
        if source.parent != target.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(source, target)

    rename = Path.rename
    if request.param == "another file system":
        monkeypatch.setattr(Path, "rename", refuse)


@pytest.mark.usefixtures("file_systems")
async def test_a_guest_goes_with_its_disks_and_backups(
    harness: Harness, elsewhere: Harness, disk: DiskSpec
) -> None:
    backup = next(ids)
    await harness.engine.backups.save(backup, [disk], ignore)
    await elsewhere.engine.take(disk.compute_id, harness.engine, [backup])
    assert await elsewhere.read_disk(disk) == "written before"
    assert await elsewhere.engine.backups.list() == [BackupState(backup, (disk.id,))]
    assert await harness.engine.inspect(disk.compute_id) is None
    assert backup not in [each.id for each in await harness.engine.backups.list()]
    assert await harness.remains(disk.compute_id) == []
    await elsewhere.engine.backups.delete(backup)


async def test_a_guest_runs_where_it_went(
    harness: Harness, elsewhere: Harness, offline: InstanceSpec
) -> None:
    await harness.engine.start(offline)
    with pytest.raises(EngineError, match="runs"):
        await elsewhere.engine.take(offline.id, harness.engine, [])
    await harness.engine.stop(offline.id, 0)
    await elsewhere.engine.take(offline.id, harness.engine, [])
    await elsewhere.engine.start(elsewhere.spec(offline.id))
    state = await elsewhere.engine.inspect(offline.id)
    assert state is not None
    assert (state.power, [each.id for each in state.disks]) == (
        "running",
        [root_disk(harness, offline.id).id],
    )
    assert offline.id not in await harness.engine.addresses.list()
    await elsewhere.engine.delete(offline.id)


async def test_what_was_packed_is_unpacked_on_another_host(
    harness: Harness, elsewhere: Harness, disk: DiskSpec
) -> None:
    """The guest and its backups, twice: the second takes the place of the first."""
    backup, compute_id = next(ids), disk.compute_id
    await harness.engine.backups.save(backup, [disk], ignore)
    for _ in range(2):
        content = harness.engine.pack(compute_id, [backup])
        await elsewhere.engine.unpack(compute_id, [backup], content)
    assert await elsewhere.read_disk(disk) == "written before"
    assert await elsewhere.engine.backups.list() == [BackupState(backup, (disk.id,))]
    for each in (harness, elsewhere):
        await each.engine.backups.delete(backup)


async def test_backups_go_alone_while_the_guest_runs(
    harness: Harness, elsewhere: Harness, offline: InstanceSpec
) -> None:
    backup, disk = next(ids), root_disk(harness, offline.id)
    await harness.engine.backups.save(backup, [disk], ignore)
    await harness.engine.start(offline)
    with pytest.raises(EngineError, match="runs"):
        await anext(harness.engine.pack(offline.id, [backup]))
    content = harness.engine.pack(offline.id, [backup], guest=False)
    await elsewhere.engine.unpack(offline.id, [backup], content)
    state = await harness.engine.inspect(offline.id)
    assert state is not None
    assert state.power == "running"
    assert offline.id in await harness.engine.addresses.list()
    assert await elsewhere.engine.inspect(offline.id) is None
    assert await elsewhere.engine.backups.list() == [BackupState(backup, (disk.id,))]
    for each in (harness, elsewhere):
        await each.engine.backups.delete(backup)


async def test_a_guest_that_came_is_taken_once(
    harness: Harness, elsewhere: Harness, disk: DiskSpec
) -> None:
    await elsewhere.engine.take(disk.compute_id, harness.engine, [])
    await elsewhere.write_disk(disk, "written since")
    await elsewhere.engine.take(disk.compute_id, harness.engine, [])
    assert await elsewhere.read_disk(disk) == "written since"


async def test_a_guest_goes_back(harness: Harness, elsewhere: Harness, disk: DiskSpec) -> None:
    await elsewhere.engine.take(disk.compute_id, harness.engine, [])
    await harness.engine.take(disk.compute_id, elsewhere.engine, [])
    assert await harness.read_disk(disk) == "written before"
    assert await elsewhere.engine.inspect(disk.compute_id) is None


async def test_what_is_nowhere_is_not_taken(harness: Harness, elsewhere: Harness) -> None:
    nobody = next(ids)
    await elsewhere.engine.take(nobody, harness.engine, [next(ids)])
    await elsewhere.volumes.take(next(ids), harness.volumes)
    assert await elsewhere.engine.inspect(nobody) is None


@pytest.mark.usefixtures("file_systems")
async def test_a_volume_goes_with_its_data(harness: Harness, elsewhere: Harness) -> None:
    volume = VolumeSpec(next(ids), 1)
    await harness.volumes.create(volume)
    await harness.write_volume(volume.id, "kept")
    for _ in range(2):
        await elsewhere.volumes.take(volume.id, harness.volumes)
        assert await elsewhere.read_volume(volume.id) == "kept"
        assert await harness.volumes.inspect(volume.id) is None
    assert await elsewhere.volumes.inspect(volume.id) == VolumeState(volume.id, 1, None)
    await elsewhere.volumes.delete(volume.id)


async def test_a_volume_in_use_stays(
    harness: Harness, elsewhere: Harness, running: InstanceSpec
) -> None:
    volume = VolumeSpec(next(ids), 1)
    await harness.volumes.create(volume)
    await harness.volumes.plug(volume.id, "data", running.id)
    with pytest.raises(EngineError, match="runs with it"):
        await elsewhere.volumes.take(volume.id, harness.volumes)
    await harness.engine.stop(running.id, 0)
    await harness.volumes.delete(volume.id)


async def test_only_an_engine_of_its_kind_is_taken_from(harness: Harness) -> None:
    stranger = SimpleNamespace(name="incus")
    with pytest.raises(EngineError, match="incus"):
        await harness.engine.take(next(ids), cast(InstanceEngine, stranger), [])
    with pytest.raises(EngineError, match="incus"):
        await harness.volumes.take(next(ids), cast(VolumeEngine, stranger))
