"""Copies of volumes: by qemu-img, or by the QEMU of the guest that has the volume.

A running guest's QEMU mirrors the volume until both are the same, and stops at that moment. It is
asked on many short connections, as its monitor has time for one client only.
"""

import asyncio
import os
import re
from contextlib import suppress

from roost.core.engine import EngineError
from roost.engines.qemu.guests.block_jobs import (
    BlockJob,
    begin_mirror,
    block_jobs,
    cancel,
    give_up,
)
from roost.engines.qemu.guests.devices import block_node, volume_name
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import Monitor, MonitorError, connected
from roost.engines.qemu.host.files import sync
from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.volumes import plugging
from roost.engines.qemu.volumes.files import VolumeFile, holders
from roost.resources.compute.disk_engine import Progress
from roost.threads import DISK

_DOING = "The volume could not be copied"
_POLL_SECONDS = 0.2
_END_POLL_SECONDS = 0.02
_PERCENT = re.compile(r"\((\d+)(?:\.\d+)?/100%\)")


async def copy_volume(
    source: VolumeFile, target: VolumeFile, size: int, progress: Progress
) -> None:
    """Make the target's file, of `size` bytes, anew; EngineError when that fails."""
    await abandon_copy(target)
    target.partial.unlink(missing_ok=True)
    try:
        with target.partial.open("xb") as file:
            file.truncate(source.data.stat().st_size)
        compute_id = await source.holder()
        if compute_id is None:
            await _convert(source, target, progress)
        else:
            await _mirror(Guest(source.state_dir, compute_id), source, target, progress)
    except BaseException:
        await _discard(target)
        raise
    with target.partial.open("r+b") as file:
        file.truncate(size)
    await DISK.run(sync, target.partial)
    await DISK.run(target.put)


async def _discard(target: VolumeFile) -> None:
    """What has failed takes no room; but a file that QEMU still has open can be found again."""
    with suppress(EngineError):
        await abandon_copy(target)
        target.partial.unlink(missing_ok=True)


async def abandon_copy(target: VolumeFile) -> None:
    """End the copy that a killed control plane left to a running guest's QEMU."""
    compute_id = (await DISK.run(holders, target.state_dir)).get(str(target.partial))
    if compute_id is None:
        return
    guest = Guest(target.state_dir, compute_id)
    try:
        await _end_mirrors(guest, re.compile(rf"clone-\d+-{target.id}"))
        async with connected(guest.directory) as monitor:
            await plugging.drop_files(monitor, target.id)
    except MonitorError as error:
        if guest.process() is not None:
            raise failure(_DOING, str(error)) from error


async def abandon_copies_of(guest: Guest, source: VolumeFile) -> None:
    """End what the guest's QEMU copies of a volume that it is to lose. Raises MonitorError."""
    await _end_mirrors(guest, re.compile(rf"clone-{source.id}-\d+"))


async def _convert(source: VolumeFile, target: VolumeFile, progress: Progress) -> None:
    async def listen(text: str) -> None:
        if found := _PERCENT.findall(text):
            await progress(int(found[-1]))

    files = (source.data, target.partial)
    options = ("-p", "-n", "--target-is-zero", "-t", "writeback", "-f", "raw", "-O", "raw")
    alone = ("setpriv", "--pdeathsig=KILL")
    await run(_DOING, *alone, "qemu-img", "convert", *options, *files, heard=listen)


async def _mirror(guest: Guest, source: VolumeFile, target: VolumeFile, progress: Progress) -> None:
    try:
        await _begin_mirror(guest, source, target)
        await _follow_mirror(guest, _copy_name(source, target), progress)
    except MonitorError as error:
        if guest.process() is None:
            raise EngineError(f"{_DOING}: the instance went off meanwhile") from error
        raise failure(_DOING, str(error)) from error
    await abandon_copy(target)


async def _begin_mirror(guest: Guest, source: VolumeFile, target: VolumeFile) -> None:
    name = _copy_name(source, target)
    async with connected(guest.directory) as monitor:
        descriptor = os.open(target.partial, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            file = await monitor.pass_file(descriptor, target.id)
        finally:
            os.close(descriptor)
        await monitor.execute("blockdev-add", block_node(name, "raw", file))
        await begin_mirror(monitor, volume_name(source.id), name)


async def _follow_mirror(guest: Guest, name: str, progress: Progress) -> None:
    """Returns when both are the same and nothing more is mirrored."""
    while True:
        async with connected(guest.directory) as monitor:
            job = await _find_job(monitor, name)
            if job is None:
                raise MonitorError("the copy has ended")
            if job.status == "ready":
                await cancel(monitor, name)
        if job.status == "concluded":
            if job.error is not None:
                raise MonitorError(job.error)
            return
        await progress(100 * job.done // max(1, job.total))
        await asyncio.sleep(_POLL_SECONDS)


async def _end_mirrors(guest: Guest, pattern: re.Pattern[str]) -> None:
    """Nothing of the copies with such names stays in QEMU, however far they had come."""
    while True:
        async with connected(guest.directory) as monitor:
            jobs = [job for job in await block_jobs(monitor) if pattern.fullmatch(job.id)]
            for job in jobs:
                await give_up(monitor, job)
            if not jobs:
                for name in filter(pattern.fullmatch, await plugging.nodes(monitor)):
                    await plugging.drop_node(monitor, name, int(name.rpartition("-")[2]))
                return
        await asyncio.sleep(_END_POLL_SECONDS)


async def _find_job(monitor: Monitor, name: str) -> BlockJob | None:
    return next((job for job in await block_jobs(monitor) if job.id == name), None)


def _copy_name(source: VolumeFile, target: VolumeFile) -> str:
    """The name of the job and of the node it fills; that of a node may have 31 characters."""
    return f"clone-{source.id}-{target.id}"
