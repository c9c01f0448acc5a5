"""Disks as files of the host: what is on them, and what goes wrong. No guest boots here."""

import os
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
import pytest_asyncio

from roost.core.engine import EngineError, FullError
from roost.engines.qemu.disks.backups import QemuBackups
from roost.engines.qemu.disks.engine import QemuDisks
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import DiskFile
from roost.resources.compute.disk_engine import DiskSpec, Filesystem
from roost.resources.compute.engine import DiskDevice, NoDisksError
from tests.engines.harness import ignore, root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu, output

pytestmark = pytest.mark.qemu

MB = 1024 * 1024
ID = 100_001


@pytest_asyncio.fixture
async def harness(tmp_path: Path) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path / "state")
    yield harness
    await harness.engine.delete(ID)


@pytest.fixture
def disks(harness: QemuHarness) -> QemuDisks:
    return harness.engine.disks


@pytest.fixture
def backups(harness: QemuHarness) -> QemuBackups:
    return harness.engine.backups


def spec(filesystem: Filesystem = "ext4", size: int = 64, disk_id: int = ID) -> DiskSpec:
    return DiskSpec(disk_id, ID, size, filesystem)


def file_of(harness: QemuHarness, disk: DiskSpec) -> DiskFile:
    found = Guest(harness.state_dir, disk.compute_id).disk(disk.id).find()
    assert found is not None
    return found


def store(path: Path, name: str, content: bytes) -> None:
    """Write a file into an ext file system that is not mounted."""
    with NamedTemporaryFile() as source:
        source.write(content)
        source.flush()
        output("debugfs", "-w", "-R", f"write {source.name} {name}", str(path))


def stored(path: Path, name: str) -> bytes:
    """The file in a file system, which must be free of faults."""
    output("e2fsck", "-fn", str(path))
    with NamedTemporaryFile() as target:
        output("debugfs", "-R", f"dump {name} {target.name}", str(path))
        return Path(target.name).read_bytes()


def raw_copy(found: DiskFile, path: Path) -> Path:
    output("qemu-img", "convert", "-f", found.format, "-O", "raw", str(found.path), str(path))
    return path


def blocks_of(path: Path) -> int:
    """Bytes of the file system."""
    lines = output("dumpe2fs", "-h", str(path)).splitlines()
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(values["Block count"]) * int(values["Block size"])


@pytest.mark.parametrize(
    ("filesystem", "kind"),
    [("ext3", "ext3"), ("ext4", "ext4"), ("swap", "swap"), ("raw", ""), ("initrd", "")],
)
async def test_an_empty_disk_has_its_file_system_and_takes_little_room(
    harness: QemuHarness, disks: QemuDisks, filesystem: Filesystem, kind: str
) -> None:
    disk = spec(filesystem)
    await disks.make(disk)
    path = file_of(harness, disk).path
    status = path.stat()
    assert status.st_size == 64 * MB
    assert status.st_blocks * 512 < 16 * MB
    assert stat.filemode(status.st_mode) == "-rw-------"
    assert status.st_uid >= 1_900_000_000
    probe = subprocess.run(
        ["blkid", "-p", "-o", "value", "-s", "TYPE", path], capture_output=True, text=True
    )
    assert probe.stdout.strip() == kind


@pytest.mark.parametrize("filesystem", ["ext3", "ext4"])
async def test_a_file_system_grows_and_shrinks_with_its_disk(
    harness: QemuHarness, disks: QemuDisks, filesystem: Filesystem
) -> None:
    disk = spec(filesystem, 128)
    content = os.urandom(10 * MB)
    await disks.make(disk)
    store(file_of(harness, disk).path, "precious", content)
    for size in (300, 96, 96):
        await disks.resize(replace(disk, size=size))
        path = file_of(harness, disk).path
        assert path.stat().st_size == blocks_of(path) == size * MB
        assert stored(path, "precious") == content
        assert path.stat().st_uid >= 1_900_000_000


async def test_a_disk_does_not_become_smaller_than_its_files(
    harness: QemuHarness, disks: QemuDisks
) -> None:
    disk = spec(size=128)
    content = os.urandom(40 * MB)
    await disks.make(disk)
    store(file_of(harness, disk).path, "precious", content)
    with pytest.raises(EngineError, match="what it holds needs more room"):
        await disks.resize(replace(disk, size=30))
    assert stored(file_of(harness, disk).path, "precious") == content
    state = await disks.inspect(ID, ID)
    assert state is not None
    assert state.size == 128


async def test_a_damaged_file_system_is_left_as_it_is(
    harness: QemuHarness, disks: QemuDisks
) -> None:
    disk = spec(size=64)
    await disks.make(disk)
    path = file_of(harness, disk).path
    with path.open("r+b") as file:
        file.seek(64 * 1024)
        file.write(os.urandom(MB))
    before = path.read_bytes()
    with pytest.raises(EngineError, match="could not be resized"):
        await disks.resize(replace(disk, size=32))
    assert path.read_bytes() == before


@pytest.mark.parametrize(("size", "fits"), [(33, True), (32, False), (96, True)])
async def test_of_unknown_content_only_zeros_are_cut_off(
    harness: QemuHarness, disks: QemuDisks, size: int, fits: bool
) -> None:
    """The last byte that is not zero is the first one after 32 MB."""
    disk = spec("raw", 64)
    await disks.make(disk)
    with file_of(harness, disk).path.open("r+b") as file:
        file.seek(32 * MB)
        file.write(b"x" + bytes(8 * MB))
    if fits:
        await disks.resize(replace(disk, size=size))
    else:
        with pytest.raises(EngineError, match="what it holds needs more room"):
            await disks.resize(replace(disk, size=size))
    found = file_of(harness, disk)
    assert found.size() == (size if fits else 64) * MB
    with found.path.open("rb") as file:
        file.seek(32 * MB)
        assert file.read(1) == b"x"


async def test_swap_space_fills_its_disk_at_each_size(
    harness: QemuHarness, disks: QemuDisks
) -> None:
    disk = spec("swap", 16)
    await disks.make(disk)
    for size in (64, 32):
        await disks.resize(replace(disk, size=size))
        path = file_of(harness, disk).path
        assert path.stat().st_size == size * MB
        assert output("blkid", "-p", "-o", "value", "-s", "LABEL", str(path)) == "roost-swap\n"


async def test_what_a_guest_keeps_on_its_swap_disk_is_not_made_anew(
    harness: QemuHarness, disks: QemuDisks
) -> None:
    disk = spec("swap", 32)
    await disks.make(disk)
    path = file_of(harness, disk).path
    output("mkfs.ext4", "-q", "-F", str(path))
    store(path, "precious", b"precious")
    for size in (64, 24):
        await disks.resize(replace(disk, size=size))
        assert stored(file_of(harness, disk).path, "precious") == b"precious"


async def test_a_disk_of_an_image_shrinks_and_keeps_its_kernel(
    harness: QemuHarness, disks: QemuDisks, tmp_path: Path
) -> None:
    disk = replace(root_disk(harness, ID), size=256)
    await disks.make(disk)
    await disks.resize(replace(disk, size=512))
    assert file_of(harness, disk).format == "qcow2"
    await disks.resize(replace(disk, size=80))
    found = file_of(harness, disk)
    assert (found.format, found.size()) == ("raw", 80 * MB)
    assert b"roost-swap" in stored(found.path, "etc/late")
    image = Guest(harness.state_dir, ID).disk(ID).image()
    assert image is not None
    assert image.kernel is not None
    assert image.kernel.exists()


@pytest.mark.parametrize("size", [128, 256])
async def test_a_copy_holds_the_files_of_its_source(
    harness: QemuHarness, disks: QemuDisks, tmp_path: Path, size: int
) -> None:
    disk, seen = spec(size=128), list[int]()
    content = os.urandom(MB)
    await disks.make(disk)
    store(file_of(harness, disk).path, "precious", content)

    async def progress(percent: int) -> None:
        seen.append(percent)

    copy = DiskSpec(ID + 1, ID + 1, size, "ext4")
    await disks.copy(disk, copy, progress)
    found = file_of(harness, copy)
    assert found.size() == size * MB
    path = raw_copy(found, tmp_path / "copy")
    assert stored(path, "precious") == content
    assert blocks_of(path) == size * MB
    assert found.path.stat().st_uid == file_of(harness, disk).path.stat().st_uid + 1
    assert seen == sorted(seen)
    assert seen[-1] == 100
    await harness.engine.delete(copy.compute_id)


async def test_a_copy_of_an_images_disk_rests_on_nothing(
    harness: QemuHarness, disks: QemuDisks, backups: QemuBackups
) -> None:
    """Neither does one that went through a backup; both boot the image's kernel."""
    disk = root_disk(harness, ID)
    copy, restored = replace(disk, id=ID + 1), replace(disk, id=ID + 2)
    await disks.make(disk)
    await disks.copy(disk, copy, ignore)
    await backups.save(7, [disk], ignore)
    await disks.delete(ID, ID)
    await backups.restore(7, ID, restored, ignore)
    for each in (copy, restored):
        assert "backing" not in output("qemu-img", "info", str(file_of(harness, each).path))
        image = Guest(harness.state_dir, ID).disk(each.id).image()
        assert image is not None
        assert not image.root.exists()
    output(
        *("qemu-img", "compare", "-f", "qcow2", "-F", "qcow2"),
        *(str(file_of(harness, each).path) for each in (copy, restored)),
    )
    await backups.delete(7)


async def test_an_image_that_is_not_here_is_refused(disks: QemuDisks) -> None:
    with pytest.raises(EngineError, match="roost/unknown is not available"):
        await disks.make(replace(spec(), image="roost/unknown"))
    assert await disks.inspect(ID, ID) is None


async def test_a_disk_smaller_than_its_image_is_refused(
    harness: QemuHarness, disks: QemuDisks
) -> None:
    with pytest.raises(EngineError, match="needs a disk of 64 MB"):
        await disks.make(replace(root_disk(harness, ID), size=32))


async def test_a_qcow2_that_names_a_file_of_the_host_gets_nothing_of_it(
    harness: QemuHarness, disks: QemuDisks, tmp_path: Path
) -> None:
    """As a QEMU could write it that its guest has taken over."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret" * 100_000)
    secret.chmod(0o600)
    disk = root_disk(harness, ID)
    await disks.make(disk)
    path = str(file_of(harness, disk).path)
    output("qemu-img", "rebase", "-u", "-b", str(secret), "-F", "raw", path)
    copy = replace(disk, id=ID + 1)
    for attempt in (
        disks.copy(disk, copy, ignore),
        disks.resize(replace(disk, size=128)),
        harness.engine.backups.save(7, [disk], ignore),
    ):
        with pytest.raises(EngineError, match="the host does not permit it"):
            await attempt
    assert await disks.inspect(ID, copy.id) is None
    assert await harness.engine.backups.list() == []


async def test_a_guest_whose_files_are_gone_does_not_start(harness: QemuHarness) -> None:
    disk = root_disk(harness, ID)
    instance = harness.spec(ID)
    await harness.engine.disks.make(disk)
    image = Guest(harness.state_dir, ID).disk(ID).image()
    assert image is not None
    image.root.unlink()
    with pytest.raises(EngineError, match="a file of it is gone from the host"):
        await harness.engine.start(instance)
    file_of(harness, disk).path.unlink()
    with pytest.raises(NoDisksError, match=f"Disk {ID} does not exist"):
        await harness.engine.start(instance)
    extra = replace(instance, devices=(DiskDevice("sda", ID), DiskDevice("sdb", ID + 1)))
    await harness.engine.delete(ID)
    await harness.engine.disks.make(disk)
    with pytest.raises(NoDisksError, match=f"Disk {ID + 1} does not exist"):
        await harness.engine.start(extra)
    await harness.engine.shut_down()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of the host with 24 MB."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


async def test_a_full_disk_is_told_in_plain_words(small_disk: Path) -> None:
    """What was there before stays, and nothing half-made takes up room."""
    harness = await open_qemu(small_disk / "state")
    disks, backups, disk = harness.engine.disks, harness.engine.backups, spec(size=64)
    await disks.make(disk)
    store(file_of(harness, disk).path, "precious", os.urandom(5 * MB))
    free = shutil.disk_usage(small_disk).free
    (small_disk / "other").write_bytes(bytes(free - 3 * MB))
    free = shutil.disk_usage(small_disk).free
    before = file_of(harness, disk).path.read_bytes()
    for attempt in (
        disks.make(replace(root_disk(harness, ID), id=ID + 1)),
        disks.resize(replace(disk, size=48)),
        disks.copy(disk, spec(disk_id=ID + 1), ignore),
        backups.save(7, [disk], ignore),
    ):
        with pytest.raises(FullError) as failed:
            await attempt
        assert str(failed.value).endswith("the host's disk is full")
        assert shutil.disk_usage(small_disk).free > free - MB
    assert file_of(harness, disk).path.read_bytes() == before
    assert await backups.list() == []
    assert await disks.inspect(ID, ID + 1) is None
    await harness.engine.delete(ID)
    assert await harness.engine.list() == []
