"""A storage cluster below real guests: what they wrote, what their keys open, and its faults."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError, FullError
from roost.engines.qemu.guests.directory import Guest
from roost.resources.compute.engine import InstanceSpec, MountedError, VolumeDevice
from roost.resources.compute.live_engine import UnfitError
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.ceph_host import CephHarness, open_ceph
from tests.engines.conftest import ids
from tests.engines.harness import ignore, root_disk, until
from tests.engines.qemu_host import output
from tests.engines.shell import Shell, make_shell

pytestmark = pytest.mark.ceph

_LINK = "/dev/disk/by-id/scsi-0Roost_Volume_data"
_ANSWERS_WITHIN = 45.0
"""Seconds, of a machine that is busy; a connection is given up after ten."""


@pytest_asyncio.fixture(scope="module")
async def harness(
    ceph_conf: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[CephHarness]:
    async with open_ceph(tmp_path_factory.mktemp("engine"), ceph_conf) as harness:
        yield harness


@pytest_asyncio.fixture
async def volume(harness: CephHarness) -> AsyncIterator[VolumeSpec]:
    volume = VolumeSpec(next(ids), 1)
    await harness.volumes.create(volume)
    yield volume
    await harness.volumes.delete(volume.id)


async def test_what_a_guest_wrote_is_there_after_its_host_killed_it(
    harness: CephHarness, volume: VolumeSpec, tmp_path: Path
) -> None:
    """It boots with the volume, writes, is killed, boots again, and gives the volume away."""
    shell = make_shell(tmp_path, harness.network)
    spec = harness.spec(next(ids))
    setup = replace(spec.setup, authorized_keys=(shell.public_key,))
    devices = (*spec.devices, VolumeDevice("sdb", volume.id, "data"))
    spec = replace(spec, setup=setup, devices=devices)
    await harness.engine.disks.make(root_disk(harness, spec.id))
    await harness.engine.start(spec)
    await shell.booted(spec.ipv4[0].interface.ip)
    await _done(shell, spec, f"mkfs.ext4 -q {_LINK} && mount {_LINK} /mnt")
    await _done(shell, spec, "dd if=/dev/urandom of=/mnt/data bs=64k count=32 && sync")
    digest = await _done(shell, spec, "sha256sum </mnt/data")
    with pytest.raises(MountedError, match="unmount it first"):
        await harness.volumes.unplug(volume.id, spec.id)

    await harness.crash(spec.id)
    assert await harness.volumes.inspect(volume.id) == VolumeState(volume.id, 1, None)
    await harness.engine.start(spec)
    await shell.booted(spec.ipv4[0].interface.ip)
    await _done(shell, spec, f"mount {_LINK} /mnt")
    assert await _done(shell, spec, "sha256sum </mnt/data") == digest

    await harness.volumes.resize(VolumeSpec(volume.id, 2))
    assert await _done(shell, spec, f"blockdev --getsize64 {_LINK}") == str(2 << 30)
    await _done(shell, spec, "umount /mnt")
    await harness.volumes.unplug(volume.id, spec.id)
    assert await harness.volumes.inspect(volume.id) == VolumeState(volume.id, 2, None)
    await harness.engine.delete(spec.id)


async def _done(shell: Shell, spec: InstanceSpec, command: str) -> str:
    """What a command prints, which must succeed."""
    printed = await shell.run(spec.ipv4[0].interface.ip, command)
    assert printed is not None, command
    return printed.strip()


async def test_a_guests_key_opens_its_volume_and_nothing_else(
    harness: CephHarness, volume: VolumeSpec, tmp_path: Path
) -> None:
    """As a guest that has taken its QEMU over would try."""
    guest = Guest(harness.state_dir, next(ids))
    guest.directory.mkdir()
    async with harness.source.opened(guest, [volume.id]) as opened:
        secret = opened[volume.id].secret
    user = f"client.{harness.source.keys.user(volume.name)}"
    keyring = tmp_path / "keyring"
    keyring.write_text(f"[{user}]\n\tkey = {secret}\n")
    other = VolumeSpec(next(ids), 1)
    await harness.volumes.create(other)
    who = ("--conf", str(harness.cluster.conf), "--name", user, "--keyring", str(keyring))
    own, place = harness.cluster.image(volume.name), harness.cluster.place
    assert _may("rbd", *who, "resize", "--no-progress", "--size", "2G", own)
    for forbidden in (
        ("rbd", *who, "ls", place),
        ("rbd", *who, "create", "--size", "1G", f"{place}/volume-1"),
        ("rbd", *who, "resize", "--no-progress", "--size", "2G", harness.cluster.image(other.name)),
        ("rados", *who, "--pool", "roost", "--namespace", harness.cluster.namespace, "ls"),
        ("rados", *who, "--pool", "roost", "put", "object", str(keyring)),
        ("ceph", *who, "osd", "blocklist", "add", "127.0.0.9:0/1"),
        ("ceph", *who, "auth", "get-or-create-key", f"{user}.more", "mon", "allow *"),
    ):
        assert not await asyncio.to_thread(_may, *forbidden), forbidden
    await harness.volumes.delete(other.id)
    await harness.engine.delete(guest.id)


def _may(*command: str) -> bool:
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return done.returncode == 0


async def test_a_guest_with_volumes_of_a_cluster_does_not_move_alive(
    harness: CephHarness, volume: VolumeSpec
) -> None:
    """To mirror an image onto itself would be the end of it."""
    spec = harness.spec(next(ids))
    await harness.engine.disks.make(root_disk(harness, spec.id))
    await harness.engine.start(spec)
    await harness.volumes.plug(volume.id, "data", spec.id)
    with pytest.raises(UnfitError, match="it has volumes of a storage cluster"):
        await harness.engine.live.offer(spec.id, IPv4Address("127.0.0.1"))
    await harness.engine.delete(spec.id)


async def test_a_cluster_that_does_not_answer_is_told_and_passes(
    harness: CephHarness, volume: VolumeSpec
) -> None:
    """Nothing that was asked for meanwhile is there afterwards."""
    asked, copied = VolumeSpec(next(ids), 1), VolumeSpec(next(ids), 1)
    clock = asyncio.get_running_loop().time
    began = clock()
    with _halted(harness.cluster.conf.parent, "mon.a"):
        answers = await asyncio.gather(
            harness.volumes.create(asked),
            harness.volumes.copy(volume.id, copied, ignore),
            harness.volumes.resize(VolumeSpec(volume.id, 2)),
            harness.volumes.list(),
            harness.volumes.health(),
            return_exceptions=True,
        )
    assert clock() - began < _ANSWERS_WITHIN
    for answer in answers:
        assert isinstance(answer, EngineError)
        assert "the storage cluster does not answer" in str(answer)

    async def serves() -> bool:
        try:
            return (await harness.volumes.health()).ok
        except EngineError:
            return False

    await until(serves, bool)
    assert await harness.volumes.list() == [VolumeState(volume.id, 1, None)]


@contextmanager
def _halted(state: Path, name: str) -> Iterator[None]:
    pid = int((state / f"{name}.pid").read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_a_full_cluster_is_told_and_passes(harness: CephHarness, volume: VolumeSpec) -> None:
    """What it refuses is asked for before: its clients would wait for room."""
    refused = VolumeSpec(next(ids), 1)
    await _limit(harness, 1)
    try:
        await until(harness.volumes.health, lambda health: not health.ok)
        for work in (
            harness.volumes.create(refused),
            harness.volumes.copy(volume.id, refused, ignore),
            harness.volumes.resize(VolumeSpec(volume.id, 2)),
        ):
            with pytest.raises(FullError, match="the storage cluster is full"):
                await work
    finally:
        await _limit(harness, 0)
    await until(harness.volumes.health, lambda health: health.ok)
    assert await harness.volumes.list() == [VolumeState(volume.id, 1, None)]
    await harness.volumes.resize(VolumeSpec(volume.id, 2))


async def _limit(harness: CephHarness, size: int) -> None:
    """Bytes that the pool may hold; 0: no limit."""
    conf, quota = str(harness.cluster.conf), ("max_bytes", str(size))
    change = ("ceph", "--conf", conf, "osd", "pool", "set-quota", harness.cluster.pool, *quota)
    await asyncio.to_thread(output, *change)
