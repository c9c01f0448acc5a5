"""Work on a running guest that is cancelled, or whose QEMU falls silent, leaves nothing in it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.qemu.disks import live_copies
from roost.engines.qemu.guests import monitor
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import connected
from roost.engines.qemu.volumes.files import VolumeFile, holders
from roost.resources.compute.disk_engine import DiskSpec, Progress
from roost.resources.compute.engine import DiskDevice
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.harness import ignore, root_disk
from tests.engines.qemu_host import QemuHarness, open_qemu, processes_with

pytestmark = pytest.mark.qemu

GUEST, PLUGGED, LOOSE, COPY, BACKUP = range(100_001, 100_006)
DATA = DiskSpec(GUEST + 1, GUEST, 64, "raw")
_MB = 1024 * 1024

Work = Callable[[Progress], Coroutine[None, None, None]]


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    """A guest with a disk and a volume that take a while to copy; another volume is loose."""
    harness = await open_qemu(tmp_path_factory.mktemp("interrupted"))
    for disk in (root_disk(harness, GUEST), DATA):
        await harness.engine.disks.make(disk)
    _fill(Guest(harness.state_dir, GUEST).directory / f"{DATA.name}.raw")
    for volume_id in (PLUGGED, LOOSE):
        await harness.volumes.create(VolumeSpec(volume_id, 1))
        _fill(VolumeFile(harness.state_dir, volume_id).data)
    spec = harness.spec(GUEST)
    await harness.engine.start(replace(spec, devices=(*spec.devices, DiskDevice("sdb", DATA.id))))
    await harness.volumes.plug(PLUGGED, "plugged", GUEST)
    yield harness
    await harness.engine.shut_down()


def _fill(path: Path) -> None:
    with path.open("r+b") as file:
        for _ in range(64):
            file.write(os.urandom(_MB))


async def interrupted(work: Work) -> None:
    """Cancel the work as soon as it tells how far it is."""
    under_way = asyncio.Event()

    async def progress(_percent: int) -> None:
        under_way.set()
        await asyncio.sleep(3600)

    task = asyncio.create_task(work(progress))
    async with asyncio.timeout(120):
        await under_way.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def copies_in(harness: QemuHarness) -> list[str]:
    """Jobs and nodes of copies, and open files that are no disk or volume of the guest."""
    async with connected(Guest(harness.state_dir, GUEST).directory) as qemu:
        answers = [
            await qemu.execute("query-jobs"),
            await qemu.execute("query-named-block-nodes", {"flat": True}),
        ]
    found = [each for answer in answers if isinstance(answer, list) for each in answer]
    names = [each.get("id") or each["node-name"] for each in found]
    files = [path for path in holders(harness.state_dir) if ".part" in path]
    return [*(name for name in names if name.startswith(("copy-", "clone-"))), *files]


@pytest.mark.parametrize("source", [PLUGGED, LOOSE])
async def test_a_cancelled_copy_of_a_volume(harness: QemuHarness, source: int) -> None:
    await interrupted(lambda told: harness.volumes.copy(source, VolumeSpec(COPY, 1), told))
    assert await copies_in(harness) == []
    assert processes_with(str(VolumeFile(harness.state_dir, COPY).partial)) == []
    assert await harness.volumes.inspect(COPY) is None
    await harness.volumes.copy(source, VolumeSpec(COPY, 1), ignore)
    await harness.volumes.delete(COPY)


async def test_a_cancelled_backup(harness: QemuHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    backups, options = harness.engine.backups, live_copies._backup
    monkeypatch.setattr(live_copies, "_backup", lambda each: {**options(each), "speed": _MB})
    await interrupted(lambda told: backups.save(BACKUP, [DATA], told))
    assert await copies_in(harness) == []
    assert list((harness.state_dir / "backups").iterdir()) == []


@pytest.mark.parametrize("moment", [0.0, 0.005, 0.01, 0.015, 0.02, 0.03])
async def test_a_cancelled_plug(harness: QemuHarness, moment: float) -> None:
    task = asyncio.create_task(harness.volumes.plug(LOOSE, "loose", GUEST))
    await asyncio.sleep(moment)
    if task.cancel():
        with pytest.raises(asyncio.CancelledError):
            await task
    await harness.volumes.plug(LOOSE, "loose", GUEST)
    assert await harness.volumes.inspect(LOOSE) == VolumeState(LOOSE, 1, GUEST)
    await harness.volumes.unplug(LOOSE, GUEST)
    assert await harness.volumes.inspect(LOOSE) == VolumeState(LOOSE, 1, None)


@contextmanager
def silent(harness: QemuHarness) -> Iterator[None]:
    process = Guest(harness.state_dir, GUEST).process()
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


async def test_a_qemu_that_does_not_answer(
    harness: QemuHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "_CONNECT_SECONDS", 0.3)
    fault = pytest.raises(EngineError, match="attached: the instance does not answer")
    with silent(harness), fault:
        await harness.volumes.plug(LOOSE, "loose", GUEST)
    monkeypatch.setattr(monitor, "_CONNECT_SECONDS", 5)
    monkeypatch.setattr(monitor, "_ANSWER_SECONDS", 0.3)
    async with connected(Guest(harness.state_dir, GUEST).directory) as qemu:
        with silent(harness), pytest.raises(TimeoutError):
            await qemu.execute("query-jobs")


async def test_many_clients_of_one_qemu_wait_for_their_turns(harness: QemuHarness) -> None:
    """Also behind some that have gone without waiting for an answer."""
    guest = Guest(harness.state_dir, GUEST)

    async def ask(number: int) -> None:
        async with connected(guest.directory) as qemu:
            question = asyncio.ensure_future(qemu.execute("query-block"))
            await asyncio.sleep(0)
            if number % 2:
                question.cancel()
            else:
                assert await question

    await asyncio.gather(*(ask(number) for number in range(60)))


async def test_a_copy_that_qemu_knows_nothing_of_has_failed(
    harness: QemuHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError, match="The backup could not be made"):
        await live_copies._wait(
            Guest(harness.state_dir, GUEST), 1, ignore, "The backup could not be made"
        )


async def test_a_guest_that_goes_off_during_a_copy_is_told_of(harness: QemuHarness) -> None:
    async def crash(_percent: int) -> None:
        await harness.crash(GUEST)

    with pytest.raises(EngineError, match="could not be copied: the instance went off meanwhile"):
        await harness.volumes.copy(PLUGGED, VolumeSpec(COPY, 1), crash)
    assert await harness.volumes.inspect(COPY) is None
