"""Volumes as real guests see them, and what guests wrote to them."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.qemu.volumes import taking
from roost.engines.qemu.volumes.files import VolumeFile
from roost.resources.compute.engine import InstanceSpec, MountedError, VolumeDevice
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.conftest import ids
from tests.engines.harness import ignore, root_disk, until
from tests.engines.qemu_host import QemuHarness, open_qemu, output
from tests.engines.shell import Shell, make_shell

pytestmark = pytest.mark.qemu

LONGEST = "Ab-0_" * 6 + "Zz"
"""32 characters, of every kind that a label may have."""
_QUIET = "-o noatime,noinit_itable"
"""Nothing is written that nobody asked for."""
_MB = 1 << 20
_PLACE_MB = 100


@dataclass(frozen=True, slots=True)
class Lab:
    """Two guests that have booted; their volumes are on a small disk of their own."""

    harness: QemuHarness
    shell: Shell
    first: InstanceSpec
    second: InstanceSpec
    boot_volumes: tuple[str, str]
    """Labels of what the first guest booted with: in a slot, and without one."""

    async def run(self, spec: InstanceSpec, command: str) -> str | None:
        return await self.shell.run(spec.ipv4[0].interface.ip, command)

    async def done(self, spec: InstanceSpec, command: str) -> str:
        """What a command prints, which must succeed."""
        printed = await self.run(spec, command)
        assert printed is not None, command
        return printed.strip()

    async def plug(self, spec: InstanceSpec, volume_id: int, label: str) -> str:
        """The device in the guest."""
        await self.harness.volumes.plug(volume_id, label, spec.id)
        path = link(label)
        await until(lambda: self.run(spec, f"test -b {path} && echo there"), bool)
        return path

    async def create(self, label: str) -> int:
        """A volume of 1 GiB, in the first guest."""
        volume_id = next(ids)
        await self.harness.volumes.create(VolumeSpec(volume_id, 1))
        await self.plug(self.first, volume_id, label)
        return volume_id

    def file(self, volume_id: int) -> Path:
        return VolumeFile(self.harness.state_dir, volume_id).data


def link(label: str) -> str:
    return f"/dev/disk/by-id/scsi-0Roost_Volume_{label}"


@pytest.fixture(scope="module")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    state_dir = tmp_path_factory.mktemp("volumes")
    place = state_dir / "volumes"
    place.mkdir()
    output("mount", "-t", "tmpfs", "-o", f"size={_PLACE_MB}m", "roost-test", str(place))
    yield state_dir
    output("umount", "--lazy", str(place))


@pytest_asyncio.fixture(scope="module")
async def lab(state_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    harness = await open_qemu(state_dir)
    shell = make_shell(tmp_path_factory.mktemp("key"), harness.network)
    labels = (LONGEST, LONGEST[::-1])
    volumes = [next(ids) for _ in labels]
    for volume_id in volumes:
        await harness.volumes.create(VolumeSpec(volume_id, 1))
    with_volumes = (
        VolumeDevice("sdc", volumes[0], labels[0]),
        VolumeDevice(None, volumes[1], labels[1]),
    )
    first, second = (_guest(harness, shell) for _ in range(2))
    first = replace(first, devices=(*first.devices, *with_volumes))
    for spec in (first, second):
        await harness.engine.disks.make(root_disk(harness, spec.id))
        await harness.engine.start(spec)
    lab = Lab(harness, shell, first, second, labels)
    await asyncio.gather(*(shell.booted(each.ipv4[0].interface.ip) for each in (first, second)))
    yield lab
    await harness.engine.shut_down()


def _guest(harness: QemuHarness, shell: Shell) -> InstanceSpec:
    spec = harness.spec(next(ids))
    return replace(spec, setup=replace(spec.setup, authorized_keys=(shell.public_key,)))


async def test_volumes_at_boot_have_their_links(lab: Lab) -> None:
    links = await until(lambda: _volume_links(lab, lab.first), bool)
    assert sorted(links) == sorted(map(link, lab.boot_volumes))
    for path in links:
        assert await lab.done(lab.first, f"blockdev --getsize64 {path}") == str(1 << 30)


async def test_a_plugged_volume_comes_and_goes_with_its_link(lab: Lab) -> None:
    label = "x" * 32
    volume_id = await lab.create(label)
    assert sorted(await _volume_links(lab, lab.first)) == sorted(
        map(link, (*lab.boot_volumes, label))
    )
    await lab.harness.volumes.unplug(volume_id, lab.first.id)
    left = await until(
        lambda: _volume_links(lab, lab.first), lambda found: link(label) not in found
    )
    assert sorted(left) == sorted(map(link, lab.boot_volumes))


async def test_a_volume_carries_what_was_written_to_the_next_guest(lab: Lab) -> None:
    """Made, filled, copied and grown while mounted; refused to go; read elsewhere."""
    volumes, label = lab.harness.volumes, "travels"
    volume_id, copy_id = await lab.create(label), next(ids)
    path = link(label)
    await lab.done(lab.first, f"mkfs.ext4 -q -O ^has_journal {path} && mount {path} /mnt")
    await lab.done(lab.first, "umount /mnt")
    await lab.done(lab.first, f"mkfs.ext4 -q {path} && mount {_QUIET} {path} /mnt")
    await lab.done(lab.first, "dd if=/dev/urandom of=/mnt/data bs=64k count=32 && sync")
    digest = await lab.done(lab.first, "sha256sum </mnt/data")

    await _refused(lab, volume_id)
    assert await volumes.inspect(volume_id) == VolumeState(volume_id, 1, lab.first.id)

    await volumes.copy(volume_id, VolumeSpec(copy_id, 1), ignore)
    assert output("cmp", str(lab.file(volume_id)), str(lab.file(copy_id))) == ""
    assert lab.file(copy_id).stat().st_blocks * 512 < 16 * _MB

    await volumes.resize(VolumeSpec(volume_id, 2))
    assert await lab.done(lab.first, f"blockdev --getsize64 {path}") == str(2 << 30)
    await lab.done(lab.first, f"resize2fs {path}")
    size = await lab.done(lab.first, "df -Pm /mnt | awk 'END { print $2 }'")
    assert int(size) > 1500
    await lab.done(lab.first, "echo more >/mnt/more && umount /mnt")

    await volumes.unplug(volume_id, lab.first.id)
    await lab.plug(lab.second, volume_id, "renamed")
    await lab.plug(lab.second, copy_id, "copy")
    await lab.done(lab.second, f"mount {link('renamed')} /mnt")
    assert await lab.done(lab.second, "sha256sum </mnt/data") == digest
    assert await lab.done(lab.second, "cat /mnt/more") == "more"
    await lab.done(lab.second, f"umount /mnt && mount {link('copy')} /mnt")
    assert await lab.done(lab.second, "sha256sum </mnt/data && umount /mnt") == digest
    for each in (volume_id, copy_id):
        await volumes.unplug(each, lab.second.id)
        await volumes.delete(each)


@pytest.mark.parametrize(
    ("use", "end"),
    [
        ("mkswap {0} && swapon {0}", "swapoff {0}"),
        ("mkfs.ext4 -q {0} && mount -o ro {0} /mnt", "umount /mnt"),
        (
            "(exec 3<{0}; sleep 3600 <&3 & echo $! >/tmp/pid) >/dev/null 2>&1",
            "kill $(cat /tmp/pid)",
        ),
    ],
)
async def test_what_the_guest_has_open_stays(lab: Lab, use: str, end: str) -> None:
    """Whatever is on it: for most uses nothing there says so."""
    volume_id = await lab.create("open")
    await lab.done(lab.first, use.format(link("open")))
    await _refused(lab, volume_id)
    await lab.done(lab.first, end.format(link("open")))
    await until(lambda: _is_taken(lab, volume_id), bool)
    await lab.harness.volumes.delete(volume_id)


async def test_an_unmount_that_is_under_way_is_waited_for(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_UNMOUNT_SECONDS", 120.0)
    volume_id = await lab.create("busy")
    await lab.done(lab.first, f"mkfs.ext2 -q {link('busy')} && mount {link('busy')} /mnt")
    unplug = asyncio.create_task(lab.harness.volumes.unplug(volume_id, lab.first.id))
    await lab.done(lab.first, "umount /mnt")
    await unplug
    assert await lab.harness.volumes.inspect(volume_id) == VolumeState(volume_id, 1, None)
    await lab.harness.volumes.delete(volume_id)


async def test_what_a_crash_left_unclean_can_go_when_it_is_not_used(lab: Lab) -> None:
    volume_id = next(ids)
    await lab.harness.volumes.create(VolumeSpec(volume_id, 1))
    await asyncio.to_thread(_make_unclean, lab.file(volume_id))
    path = await lab.plug(lab.first, volume_id, "unclean")
    assert await lab.done(lab.first, f"head -c 4096 {path} | wc -c") == "4096"
    await lab.harness.volumes.unplug(volume_id, lab.first.id)
    assert await lab.harness.volumes.inspect(volume_id) == VolumeState(volume_id, 1, None)
    await lab.harness.volumes.delete(volume_id)


async def test_a_vanished_file_can_be_unplugged(lab: Lab) -> None:
    volume_id = await lab.create("vanishing")
    lab.file(volume_id).unlink()
    assert await lab.harness.volumes.inspect(volume_id) is None
    with pytest.raises(EngineError, match="do not exist"):
        await lab.harness.volumes.resize(VolumeSpec(volume_id, 2))
    await lab.harness.volumes.unplug(volume_id, lab.first.id)
    path = link("vanishing")
    await until(lambda: lab.run(lab.first, f"test -e {path} || echo gone"), bool)
    await lab.harness.volumes.delete(volume_id)


async def test_a_full_disk_of_the_host_is_told_and_passes(lab: Lab) -> None:
    volume_id, copy_id = await lab.create("full"), next(ids)
    path, filler = link("full"), lab.harness.state_dir / "volumes/filler"
    write = f"dd if=/dev/urandom of={path} bs=64k count=16 conv=fsync"
    await lab.done(lab.first, write)
    await asyncio.to_thread(_fill, filler)
    assert await lab.run(lab.first, f"{write} seek=64 2>/dev/null") is None
    folders = {each.path: each.free for each in (await lab.harness.engine.host()).folders}
    assert folders[str(filler.parent)] == 0
    full = pytest.raises(
        EngineError, match="The volume could not be copied: the host's disk is full"
    )
    with full:
        await lab.harness.volumes.copy(volume_id, VolumeSpec(copy_id, 1), ignore)
    await lab.harness.volumes.unplug(volume_id, lab.first.id)
    with full:
        await lab.harness.volumes.copy(volume_id, VolumeSpec(copy_id, 1), ignore)
    filler.unlink()
    await lab.harness.volumes.copy(volume_id, VolumeSpec(copy_id, 1), ignore)
    assert output("cmp", str(lab.file(volume_id)), str(lab.file(copy_id))) == ""
    assert await lab.done(lab.first, "hostname") == lab.first.setup.hostname
    for each in (volume_id, copy_id):
        await lab.harness.volumes.delete(each)


async def _refused(lab: Lab, volume_id: int) -> None:
    """The volume cannot be taken from the guest, now and in a second."""
    with pytest.MonkeyPatch.context() as patience:
        patience.setattr(taking, "_UNMOUNT_SECONDS", 1.0)
        with pytest.raises(MountedError, match="unmount it first, or shut the instance down"):
            await lab.harness.volumes.unplug(volume_id, lab.first.id)


async def _is_taken(lab: Lab, volume_id: int) -> bool:
    """Something in the guest may look at the volume for a moment."""
    with suppress(MountedError):
        await lab.harness.volumes.unplug(volume_id, lab.first.id)
        return True
    return False


async def _volume_links(lab: Lab, spec: InstanceSpec) -> list[str]:
    return (await lab.run(spec, f"ls {link('')}*") or "").split()


def _make_unclean(file: Path) -> None:
    """As a guest leaves a mounted file system whose plug is pulled."""
    subprocess.run(["mkfs.ext4", "-q", file], check=True)
    with file.open("r+b") as disk:
        disk.seek(1024 + 0x60)
        needs = disk.read(4)
        disk.seek(1024 + 0x60)
        disk.write(bytes([needs[0] | 4]) + needs[1:])


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
