"""Disks of a guest that runs, kept the same on another host.

What the guest writes is written there before it is told that it is written, so that nothing is left
to do when it is halted.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field, TypeAdapter
from qemu.qmp.qmp_client import ExecuteError

from roost.engines.qemu.guests.devices import Options
from roost.engines.qemu.guests.monitor import Monitor, MonitorError
from roost.engines.qemu.migration import channel
from roost.engines.qemu.migration.messages import Receiver
from roost.engines.qemu.volumes.plugging import nodes

_PREFIX = "go-"
"""Of jobs and nodes, before the name of the disk."""
_END_POLL_SECONDS = 0.005
_OVER = ("waiting", "pending", "aborting", "concluded", "null")


class _Job(BaseModel):
    id: str
    status: str
    error: str | None = None
    done: int = Field(alias="current-progress")
    total: int = Field(alias="total-progress")


_JOBS = TypeAdapter(list[_Job])


@dataclass(frozen=True, slots=True)
class MirrorProgress:
    """How far all mirrors are, in bytes."""

    done: int
    total: int
    ready: bool
    """Whether all are the same as what they mirror."""


def is_one(node: str | None) -> bool:
    """Whether it is a node of a mirror."""
    return node is not None and node.startswith(_PREFIX)


async def begin(
    monitor: Monitor, names: Sequence[str], receiver: Receiver, limit: int | None
) -> None:
    """Of these nodes; all together send at most `limit` bytes a second."""
    for name in names:
        target = f"{_PREFIX}{name}"
        there = channel.remote(name, receiver.address, receiver.disks_port)
        await monitor.execute("blockdev-add", {**there, "node-name": target})
        mirror: Options = {
            "job-id": target,
            "device": name,
            "target": target,
            "sync": "full",
            "copy-mode": "write-blocking",
            "speed": 0 if limit is None else max(1, limit // len(names)),
            "auto-dismiss": False,
        }
        await monitor.execute("blockdev-mirror", mirror)


async def look(monitor: Monitor, count: int) -> MirrorProgress:
    """MonitorError when one has failed."""
    jobs = await _jobs(monitor)
    if errors := [job.error for job in jobs if job.error is not None]:
        raise MonitorError("; ".join(errors))
    if len(jobs) != count or any(job.status in _OVER for job in jobs):
        raise MonitorError("the other host has gone")
    return MirrorProgress(
        sum(job.done for job in jobs),
        sum(job.total for job in jobs),
        all(job.status == "ready" for job in jobs),
    )


async def finish(monitor: Monitor) -> None:
    """Of a guest that is halted: all that it has written is there when this returns."""
    jobs = await _jobs(monitor)
    for job in jobs:
        await monitor.execute("block-job-cancel", {"device": job.id})
    while any(job.status != "concluded" for job in jobs):
        await asyncio.sleep(_END_POLL_SECONDS)
        jobs = await _jobs(monitor)
    if errors := [job.error for job in jobs if job.error is not None]:
        raise MonitorError("; ".join(errors))


async def drop(monitor: Monitor) -> None:
    """End all mirrors, however far they are."""
    while jobs := await _jobs(monitor):
        for job in jobs:
            await _end(monitor, job)
        await asyncio.sleep(_END_POLL_SECONDS)
    for node in await nodes(monitor):
        if is_one(node):
            await monitor.execute("blockdev-del", {"node-name": node})


async def _end(monitor: Monitor, job: _Job) -> None:
    if job.status == "concluded":
        await monitor.execute("job-dismiss", {"id": job.id})
        return
    if job.status not in _OVER:
        try:
            await monitor.execute("block-job-cancel", {"device": job.id, "force": True})
        except ExecuteError:
            return  # It has just ended by itself.


async def _jobs(monitor: Monitor) -> list[_Job]:
    jobs = _JOBS.validate_python(await monitor.execute("query-jobs"))
    return [job for job in jobs if job.id.startswith(_PREFIX)]
