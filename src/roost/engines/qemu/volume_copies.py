"""Copies of volumes: by qemu-img, or by the QEMU of the guest that has the volume.

A running guest's QEMU mirrors the volume until both are the same, and stops at that moment. It is
asked on many short connections, as its monitor has time for one client only.
"""

import asyncio
import os
import re

from pydantic import BaseModel, Field, TypeAdapter

from roost.engines.qemu import plugging
from roost.engines.qemu.devices import Options, block_node, volume_name
from roost.engines.qemu.guests import Guest
from roost.engines.qemu.monitor import Monitor, MonitorError, connected
from roost.engines.qemu.programs import failure, run
from roost.engines.qemu.volume_files import VolumeFile, holders
from roost.resources.compute.disks.engine import Progress

_DOING = "The volume could not be copied"
_POLL_SECONDS = 0.2
_PERCENT = re.compile(r"\((\d+)[.\d]*/100%\)")


class _Job(BaseModel):
    id: str
    status: str
    error: str | None = None
    done: int = Field(alias="current-progress")
    total: int = Field(alias="total-progress")


_JOBS = TypeAdapter(list[_Job])


async def copy_volume(
    source: VolumeFile, target: VolumeFile, size: int, progress: Progress
) -> None:
    """Make the target's file, of `size` bytes, anew; EngineError when that fails."""
    await abandon_copy(target)
    with target.partial.open("wb") as file:
        file.truncate(source.data.stat().st_size)
    compute_id = source.holder()
    if compute_id is None:
        await _convert(source, target, progress)
    else:
        await _mirror(Guest(source.state_dir, compute_id), source, target, progress)
    with target.partial.open("r+b") as file:
        file.truncate(size)
    target.partial.replace(target.data)


async def abandon_copy(target: VolumeFile) -> None:
    """End the copy that a killed control plane left to a running guest's QEMU."""
    compute_id = holders(target.state_dir).get(str(target.partial))
    if compute_id is None:
        return
    guest = Guest(target.state_dir, compute_id)
    try:
        await _end_mirror(guest, target)
    except MonitorError as error:
        if guest.process() is not None:
            raise failure(_DOING, str(error)) from error


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
        await _follow_mirror(guest, target, progress)
    except MonitorError as error:
        raise failure(_DOING, str(error)) from error
    finally:
        await abandon_copy(target)


async def _begin_mirror(guest: Guest, source: VolumeFile, target: VolumeFile) -> None:
    name = _copy_name(target)
    async with connected(guest.directory) as monitor:
        descriptor = os.open(target.partial, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            file = await monitor.pass_file(descriptor, target.id)
        finally:
            os.close(descriptor)
        await monitor.execute("blockdev-add", block_node(name, "raw", file))
        mirror: Options = {
            "job-id": name,
            "device": volume_name(source.id),
            "target": name,
            "sync": "full",
            "copy-mode": "write-blocking",
            "auto-dismiss": False,
        }
        await monitor.execute("blockdev-mirror", mirror)


async def _follow_mirror(guest: Guest, target: VolumeFile, progress: Progress) -> None:
    """Returns when both are the same and nothing more is mirrored."""
    name = _copy_name(target)
    while True:
        async with connected(guest.directory) as monitor:
            job = await _find_job(monitor, name)
            if job is None:
                raise MonitorError("the copy has ended")
            if job.status == "ready":
                await monitor.execute("block-job-cancel", {"device": name})
        if job.status == "concluded":
            if job.error is not None:
                raise MonitorError(job.error)
            return
        await progress(100 * job.done // max(1, job.total))
        await asyncio.sleep(_POLL_SECONDS)


async def _end_mirror(guest: Guest, target: VolumeFile) -> None:
    """Nothing of the copy stays in QEMU, however far it had come."""
    name = _copy_name(target)
    while True:
        async with connected(guest.directory) as monitor:
            job = await _find_job(monitor, name)
            if job is not None and job.status == "concluded":
                await monitor.execute("job-dismiss", {"id": name})
                job = None
            if job is None:
                return await plugging.drop_node(monitor, name, target.id)
            if job.status not in ("waiting", "pending", "aborting"):
                await monitor.execute("block-job-cancel", {"device": name, "force": True})
        await asyncio.sleep(_POLL_SECONDS)


async def _find_job(monitor: Monitor, name: str) -> _Job | None:
    jobs = _JOBS.validate_python(await monitor.execute("query-jobs"))
    return next((job for job in jobs if job.id == name), None)


def _copy_name(target: VolumeFile) -> str:
    return f"clone-{target.id}"
