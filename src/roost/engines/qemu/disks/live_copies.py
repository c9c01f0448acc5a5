"""Copies of disks and volumes that a guest runs with, made by its QEMU as of one moment.

The guest goes on: before it changes a block that is not copied yet, QEMU copies the old one.
"""

import asyncio
import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter

from roost.core.engine import EngineError
from roost.engines.qemu.guests.block_jobs import BlockJob, block_jobs, give_up
from roost.engines.qemu.guests.devices import Format, Options, block_node
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.disk_files import Place
from roost.engines.qemu.guests.monitor import Monitor, MonitorError, connected
from roost.engines.qemu.host.programs import failure
from roost.resources.compute.disk_engine import Progress

_PREFIX = "copy-"
_POLL_SECONDS = 0.1
_BLOCK = 512
"""Bytes of the unit in which the host counts what a file takes."""


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a copy goes: an open file, empty but for what its format has at the beginning."""

    descriptor: int
    room: int
    """Bytes of the host that it may come to take."""
    format: Format = "qcow2"


class _Node(BaseModel):
    name: str = Field(alias="node-name", default="")


_NODES = TypeAdapter(list[_Node])


async def copy_live(
    guest: Guest, sinks: Mapping[str, Sink], progress: Progress, doing: str
) -> None:
    """Fill the sinks, by the names of nodes; what an earlier attempt left in QEMU is dropped.

    QEMU serves one client at a time, so it is asked anew for every look at the copies.
    """
    _check_room(sinks, doing)
    try:
        await _drop(guest)
        try:
            await _begin(guest, sinks)
            await _wait(guest, len(sinks), progress, doing)
        except BaseException:
            with suppress(MonitorError):
                await _drop(guest)
            raise
        await _drop(guest)
    except MonitorError as error:
        if guest.process() is None:
            raise EngineError(f"{doing}: the instance went off meanwhile") from error
        raise failure(doing, str(error)) from error


def _check_room(sinks: Mapping[str, Sink], doing: str) -> None:
    """When the old block cannot be copied any more, QEMU lets the guest's own write fail."""
    wanted = sum(sink.room for sink in sinks.values())
    for sink in sinks.values():
        host = os.fstatvfs(sink.descriptor)
        if host.f_bavail * host.f_frsize < wanted:
            raise failure(doing, OSError(errno.ENOSPC, "too little room for copies"))


def held(place: Place) -> int:
    """Bytes of the host that a disk takes, with the image that it rests on."""
    found, image = place.find(), place.image()
    files = [file.path for file in (found,) if file is not None]
    files += [links.root for links in (image,) if links is not None and links.root.exists()]
    return sum(map(room_of, files))


def room_of(file: Path) -> int:
    """Bytes of the host that a file takes; holes take none."""
    return file.stat().st_blocks * _BLOCK


async def _begin(guest: Guest, sinks: Mapping[str, Sink]) -> None:
    async with connected(guest.directory) as monitor:
        for name, sink in sinks.items():
            file = await monitor.pass_file(sink.descriptor)
            node = block_node(f"{_PREFIX}{name}", sink.format, file)
            await monitor.execute("blockdev-add", node)
        actions: list[Options] = [
            {"type": "blockdev-backup", "data": _backup(name)} for name in sinks
        ]
        together: Options = {"actions": actions, "properties": {"completion-mode": "grouped"}}
        await monitor.execute("transaction", together)


def _backup(name: str) -> Options:
    return {
        "job-id": f"{_PREFIX}{name}",
        "device": name,
        "target": f"{_PREFIX}{name}",
        "sync": "full",
        "auto-dismiss": False,
    }


async def _wait(guest: Guest, count: int, progress: Progress, doing: str) -> None:
    """Wait for the copies; when one fails, QEMU cancels the others."""
    while True:
        async with connected(guest.directory) as monitor:
            jobs = await _jobs(monitor)
        if errors := [job.error for job in jobs if job.error is not None]:
            raise failure(doing, "; ".join(errors))
        if len(jobs) < count:
            raise failure(doing, "copies have gone from QEMU")
        if all(job.status == "concluded" for job in jobs):
            return
        total = sum(job.total for job in jobs)
        await progress(100 * sum(job.done for job in jobs) // total if total else 0)
        await asyncio.sleep(_POLL_SECONDS)


async def _drop(guest: Guest) -> None:
    """End all copies, and let QEMU close what it was writing to."""
    async with connected(guest.directory) as monitor:
        while jobs := await _jobs(monitor):
            for job in jobs:
                await give_up(monitor, job)
            await asyncio.sleep(_POLL_SECONDS)
        nodes = _NODES.validate_python(
            await monitor.execute("query-named-block-nodes", {"flat": True})
        )
        for node in nodes:
            if node.name.startswith(_PREFIX):
                await monitor.execute("blockdev-del", {"node-name": node.name})


async def _jobs(monitor: Monitor) -> list[BlockJob]:
    return [job for job in await block_jobs(monitor) if job.id.startswith(_PREFIX)]
