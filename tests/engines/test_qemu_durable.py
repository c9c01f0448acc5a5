"""What the engine says is done outlasts a power cut: it is on the disk, and so is its name."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import Place
from roost.engines.qemu.volumes.files import VolumeFile
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.volumes.engine import VolumeSpec
from tests.engines.harness import ignore, root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu

pytestmark = pytest.mark.qemu

ID = 100_001


@dataclass
class Disk:
    """What a power cut would leave of the host's disk."""

    sizes: dict[int, int] = field(default_factory=dict)
    """Of files, by inode."""
    names: dict[Path, int] = field(default_factory=dict)
    """Inodes."""

    def sync(self, descriptor: int) -> None:
        status, path = os.fstat(descriptor), Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.is_dir():
            self.names |= {child: child.stat().st_ino for child in path.iterdir()}
        else:
            self.sizes[status.st_ino] = status.st_size

    def keeps(self, path: Path, below: Path) -> bool:
        status = path.stat()
        if self.sizes.get(status.st_ino) != status.st_size:
            return False
        parents = [each for each in path.parents if each.is_relative_to(below) and each != below]
        return all(self.names.get(each) == each.stat().st_ino for each in (path, *parents))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "fsync", disk.sync)
    return disk


@pytest_asyncio.fixture
async def harness(tmp_path: Path) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path / "state")
    yield harness
    await harness.engine.delete(ID)


async def test_volumes(harness: QemuHarness, disk: Disk) -> None:
    volumes = harness.volumes
    first, second = (VolumeFile(harness.state_dir, number) for number in (1, 2))
    await volumes.create(VolumeSpec(1, 1))
    assert disk.keeps(first.data, harness.state_dir)
    await volumes.resize(VolumeSpec(1, 2))
    assert disk.keeps(first.data, harness.state_dir)
    await volumes.copy(1, VolumeSpec(2, 3), ignore)
    assert disk.keeps(second.data, harness.state_dir)


@pytest.mark.parametrize("image", [True, False])
async def test_disks_and_backups(harness: QemuHarness, disk: Disk, image: bool) -> None:
    disks, backups = harness.engine.disks, harness.engine.backups
    made = root_disk(harness, ID) if image else DiskSpec(ID, ID, 64, "ext4")
    copy, restored = replace(made, id=ID + 1, size=96), replace(made, id=ID + 2)
    await disks.make(made)
    assert _is_kept(harness, disk, made)
    await disks.copy(made, copy, ignore)
    assert _is_kept(harness, disk, copy)
    await disks.resize(replace(copy, size=80))
    assert _is_kept(harness, disk, copy)
    await backups.save(7, [made], ignore)
    saved = harness.state_dir / "backups/backup-7"
    assert disk.keeps(Place(saved, ID).path("qcow2"), harness.state_dir)
    await backups.restore(7, ID, restored, ignore)
    assert _is_kept(harness, disk, restored)


def _is_kept(harness: QemuHarness, disk: Disk, spec: DiskSpec) -> bool:
    """The disk, and the files of an image that it may need."""
    place = Guest(harness.state_dir, ID).disk(spec.id)
    found = place.find()
    assert found is not None
    files = [found.path, *place.image_directory.glob("*")]
    return all(disk.keeps(file, harness.state_dir) for file in files)
