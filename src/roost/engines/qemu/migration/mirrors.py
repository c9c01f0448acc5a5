"""Disks of a guest that runs, kept the same on another host.

What the guest writes is written there before it is told that it is written, so that nothing is left
to do when it is halted.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from roost.engines.qemu.guests.block_jobs import OVER, BlockJob, begin_mirror, block_jobs, give_up
from roost.engines.qemu.guests.monitor import Monitor, MonitorError
from roost.engines.qemu.migration import channel
from roost.engines.qemu.migration.messages import Receiver
from roost.engines.qemu.volumes.plugging import nodes

_PREFIX = "go-"
"""Of jobs and nodes, before the name of the disk."""
_END_POLL_SECONDS = 0.005


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
    """Mirror these nodes; all together send at most `limit` bytes a second."""
    for name in names:
        target = f"{_PREFIX}{name}"
        there = channel.remote(name, receiver.address, receiver.disks_port)
        await monitor.execute("blockdev-add", {**there, "node-name": target})
        speed = 0 if limit is None else max(1, limit // len(names))
        await begin_mirror(monitor, name, target, speed)


async def look(monitor: Monitor, count: int) -> MirrorProgress:
    """MonitorError when one has failed."""
    jobs = await _jobs(monitor)
    if errors := [job.error for job in jobs if job.error is not None]:
        raise MonitorError("; ".join(errors))
    if len(jobs) != count or any(job.status in OVER for job in jobs):
        raise MonitorError("the other host has gone")
    return MirrorProgress(
        sum(job.done for job in jobs),
        sum(job.total for job in jobs),
        all(job.status == "ready" for job in jobs),
    )


async def finish(monitor: Monitor) -> None:
    """End the mirrors of a halted guest, when all that it has written is there."""
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
            await give_up(monitor, job)
        await asyncio.sleep(_END_POLL_SECONDS)
    for node in await nodes(monitor):
        if is_one(node):
            await monitor.execute("blockdev-del", {"node-name": node})


async def _jobs(monitor: Monitor) -> list[BlockJob]:
    return [job for job in await block_jobs(monitor) if job.id.startswith(_PREFIX)]
