"""Disks of guests that run, and of guests in rescue."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.qemu.disks import live_copies
from roost.engines.qemu.disks.copies import sink
from roost.engines.qemu.disks.live_copies import Sink
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import Place
from roost.resources.compute.disk_engine import DiskSpec, Progress
from roost.resources.compute.engine import DiskDevice, InstanceSpec
from roost.secrets import hash_guest_password
from tests.engines.harness import ignore, root_disk, until
from tests.engines.qemu_host import QemuHarness, open_qemu, output
from tests.engines.shell import Shell, make_shell
from tests.engines.test_qemu_guests import ipv4, with_key

pytestmark = pytest.mark.qemu

MB = 1024 * 1024
ID = 100_001
FIRST, SECOND = (DiskSpec(ID + number, ID, 32, "raw") for number in (1, 2))

_COUNT = """
(
    i=0
    while [ ! -e /root/stop ]; do
        i=$((i + 1))
        for disk in sdb sdc; do
            echo $i | dd of=/dev/$disk bs=512 conv=notrunc,fsync 2>/dev/null
        done
    done
    rm /root/stop
) < /dev/null > /dev/null 2>&1 &
"""
"""Writes each number to the first disk and then to the second, until it is stopped."""
_STOP = "touch /root/stop; while [ -e /root/stop ]; do sleep 0.1; done"
_BEGUN = "[ $(dd if=/dev/sdc bs=16 count=1 2>/dev/null | head -n 1) -gt 3 ]"


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path_factory.mktemp("live"))
    yield harness
    await harness.engine.shut_down()


@pytest.fixture(scope="module")
def shell(harness: QemuHarness, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return make_shell(tmp_path_factory.mktemp("key"), harness.network)


@pytest_asyncio.fixture(scope="module")
async def guest(harness: QemuHarness, shell: Shell) -> AsyncIterator[InstanceSpec]:
    """One that has booted, with two disks besides its root disk."""
    spec = with_key(harness.spec(ID), shell)
    devices = (*spec.devices, DiskDevice("sdb", FIRST.id), DiskDevice("sdc", SECOND.id))
    spec = replace(spec, devices=devices)
    for disk in (root_disk(harness, ID), FIRST, SECOND):
        await harness.engine.disks.make(disk)
    await harness.engine.start(spec)
    await shell.booted(ipv4(spec))
    yield spec
    await harness.engine.delete(ID)


def number_on(place: Place) -> int:
    """What the guest had written last."""
    found = place.find()
    assert found is not None
    read = ("qemu-io", "-r", "-f", found.format, "-c", "read -v 0 16", str(found.path))
    dump = output(*read).splitlines()[0]
    return int(bytes.fromhex("".join(dump.split()[1:17])).partition(b"\n")[0])


@asynccontextmanager
async def counting(shell: Shell, guest: InstanceSpec) -> AsyncIterator[None]:
    assert await shell.run(ipv4(guest), _COUNT) == ""
    try:
        await until(lambda: shell.run(ipv4(guest), _BEGUN), lambda output: output is not None)
        yield
    finally:
        assert await shell.run(ipv4(guest), _STOP) == ""


async def test_a_backup_shows_all_disks_as_of_one_moment(
    harness: QemuHarness, guest: InstanceSpec, shell: Shell
) -> None:
    backups, seen = harness.engine.backups, list[int]()

    async def progress(percent: int) -> None:
        seen.append(percent)

    numbers = []
    async with counting(shell, guest):
        for backup_id in (1, 2):
            await backups.save(backup_id, [FIRST, SECOND, root_disk(harness, ID)], progress)
            places = [
                Place(harness.state_dir / f"backups/backup-{backup_id}", disk.id)
                for disk in (FIRST, SECOND)
            ]
            first, second = map(number_on, places)
            assert second <= first <= second + 1
            numbers.append(first)
            await backups.delete(backup_id)
    assert numbers == sorted(numbers)
    assert numbers[0] > 3
    assert all(0 <= percent <= 100 for percent in seen)
    assert await backups.list() == []


async def test_a_disk_is_copied_to_another_instance_while_its_guest_runs(
    harness: QemuHarness, guest: InstanceSpec, shell: Shell
) -> None:
    await shell.run(ipv4(guest), "echo 4711 | dd of=/dev/sdb conv=notrunc,fsync")
    target = DiskSpec(ID + 9, ID + 9, 48, "raw")
    await harness.engine.disks.copy(FIRST, target, ignore)
    place = Guest(harness.state_dir, target.compute_id).disk(target.id)
    assert number_on(place) == 4711
    found = place.find()
    assert found is not None
    assert found.size() == 48 * MB
    assert await shell.run(ipv4(guest), "head -n 1 /dev/sdb") == "4711\n"
    await harness.engine.delete(target.compute_id)


async def test_what_a_killed_control_plane_began_is_no_obstacle(
    harness: QemuHarness, guest: InstanceSpec, tmp_path: Path
) -> None:
    running = Guest(harness.state_dir, guest.id)
    async with sink(Place(tmp_path, FIRST.id), 32 * MB, "") as descriptor:
        await live_copies._begin(running, {FIRST.name: Sink(descriptor, 0)})
    await harness.engine.backups.save(5, [FIRST], ignore)
    assert [backup.id for backup in await harness.engine.backups.list()] == [5]
    await harness.engine.backups.delete(5)


async def test_a_disk_in_use_is_neither_resized_nor_deleted(
    harness: QemuHarness, guest: InstanceSpec
) -> None:
    disks = harness.engine.disks
    with pytest.raises(EngineError, match="resized: the instance runs with it"):
        await disks.resize(replace(FIRST, size=64))
    with pytest.raises(EngineError, match="deleted: the instance runs with it"):
        await disks.delete(ID, FIRST.id)
    state = await disks.inspect(ID, FIRST.id)
    assert state is not None
    assert state.size == 32


async def test_a_guest_that_dies_during_a_backup_is_told_of(
    harness: QemuHarness, guest: InstanceSpec, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = live_copies._wait

    async def die(running: Guest, count: int, progress: Progress, doing: str) -> None:
        await harness.crash(running.id)
        await wait(running, count, progress, doing)

    monkeypatch.setattr(live_copies, "_wait", die)
    with pytest.raises(EngineError, match="backup could not be made: the instance went off"):
        await harness.engine.backups.save(6, [FIRST, SECOND], ignore)
    assert list((harness.state_dir / "backups").iterdir()) == []


async def test_rescue_uses_no_disk_of_the_guest(
    harness: QemuHarness, guest: InstanceSpec, shell: Shell
) -> None:
    """A rescue system is as new at each start, takes the password and runs no user data."""
    await harness.engine.stop(guest.id, 0)
    password = hash_guest_password("Correct-horse-7")
    setup = replace(
        guest.setup, root_password_hash=password, user_data=b"#!/bin/sh\ntouch /root/ran\n"
    )
    await harness.engine.start(replace(guest, setup=setup, rescue=True, root=None))
    await shell.booted(ipv4(guest))
    mounts = await shell.run(ipv4(guest), "grep ^/dev/ /proc/mounts; tail -n +2 /proc/swaps")
    assert mounts == "/dev/sdd / ext4 rw,noatime 0 0\n"
    assert await shell.run(ipv4(guest), "dd if=/dev/sdb bs=1k count=1 | wc -c") == "1024\n"
    shadow = await shell.run(ipv4(guest), "cat /etc/shadow")
    assert shadow is not None
    assert f"root:{password}:" in shadow
    assert await shell.run(ipv4(guest), "e2fsck -fp /dev/sda >/dev/null; [ $? -lt 4 ]") == ""
    assert await shell.run(ipv4(guest), "[ ! -e /root/ran ]") == ""
    await harness.engine.stop(guest.id, 0)
    names = {path.name for path in Guest(harness.state_dir, guest.id).directory.iterdir()}
    assert "rescue.qcow2" in names


async def test_a_guest_may_boot_from_any_slot(
    harness: QemuHarness, guest: InstanceSpec, shell: Shell
) -> None:
    await harness.engine.stop(guest.id, 0)
    devices = (DiskDevice("sdb", FIRST.id), DiskDevice("sdg", ID))
    await harness.engine.start(replace(guest, devices=devices, root="sdg"))
    await shell.booted(ipv4(guest))
    root = await shell.run(ipv4(guest), "grep ' / ' /proc/mounts; ls /sys/bus/scsi/devices")
    assert root is not None
    assert root.startswith("/dev/sdb / ext4")
    assert "0:0:0:6" in root
    names = {path.name for path in Guest(harness.state_dir, guest.id).directory.iterdir()}
    assert not any(name.startswith("rescue") for name in names)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


async def test_a_guest_on_a_full_host_goes_on_with_a_failing_disk(small_disk: Path) -> None:
    """It is not stopped: it would seem to run and answer nobody."""
    harness = await open_qemu(small_disk)
    shell = make_shell(small_disk, harness.network)
    spec = with_key(harness.spec(ID), shell)
    devices = (*spec.devices, DiskDevice("sdb", FIRST.id))
    await harness.engine.disks.make(root_disk(harness, ID))
    await harness.engine.disks.make(replace(FIRST, size=64))
    await harness.engine.start(replace(spec, devices=devices))
    await shell.booted(ipv4(spec))
    fill = "dd if=/dev/urandom of=/dev/sdb bs=1M conv=fsync 2>/dev/null"
    assert await shell.run(ipv4(spec), f"{fill} || echo failed") == "failed\n"
    with pytest.raises(EngineError, match="backup could not be made: the host's disk is full"):
        await harness.engine.backups.save(1, [root_disk(harness, ID)], ignore)
    assert await shell.run(ipv4(spec), "echo alive") == "alive\n"
    await harness.engine.delete(ID)
    await harness.engine.shut_down()
