"""What is wrong with hosts, engines and jobs."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from roost.core.conditions import Condition, Watch
from roost.core.context import Context
from roost.core.engine import Folder, room_of
from roost.core.hosts.holdings import Holdings, spelled
from roost.core.planes import Engines, ask_health
from roost.errors import ShownError
from roost.jobs.upkeep_queries import count_failed
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.conditions.letter_jobs import LETTER

_SECONDS = 5.0
_PATIENCE = timedelta(minutes=1)
"""An engine may be restarted."""
_LATELY = timedelta(hours=1)


async def engines(context: Context) -> list[Condition]:
    """Data planes that cannot serve, of which hosts that are gone are the worst."""
    bindings = context.get(Engines).bindings
    answers = await asyncio.gather(*(ask_health(each.engine) for each in bindings))
    return [
        Condition(
            "engine_down",
            f"{binding.place}/{binding.plane}",
            "critical",
            f"{binding.plane} of {binding.place} cannot serve: {health.detail}",
            _PATIENCE,
        )
        for binding, health in zip(bindings, answers, strict=True)
        if not health.ok
    ]


async def hosts(context: Context) -> list[Condition]:
    """Those that have something, and of which no worker is seen."""
    silent = await context.get(Holdings).silent(context.db)
    return [
        Condition(
            "host_silent",
            name,
            "critical",
            f"No worker of host {name} has been seen for a while. It has"
            f" {spelled(held)}, on which nobody works now.",
            _PATIENCE,
        )
        for name, held in silent.items()
    ]


async def disks(context: Context) -> list[Condition]:
    """A file system that is nearly full is low as well, so that each begins and ends once.

    What cannot be seen raises: a disk is not empty because its host is gone.
    """
    found = list[Condition]()
    for region, engine in context.get(Engines).by_region(INSTANCE_PLANE).items():
        try:
            async with asyncio.timeout(_SECONDS):
                host = await engine.host()
        except TimeoutError:
            raise ShownError(f"the host of {region} gives no answer in time") from None
        for folder in () if host is None else host.folders:
            found += _of_folder(region, folder)
    return found


def _of_folder(region: str, folder: Folder) -> Sequence[Condition]:
    room, subject = room_of(folder), f"{region}:{folder.path}"
    left = f"has {folder.free >> 20} MiB of {folder.size >> 20} MiB left"
    text = f"The file system of {folder.path}, of region {region}, {left}."
    low = Condition("disk_low", subject, "warning", text)
    full = Condition("disk_full", subject, "critical", f"{text} Soon nothing can be made or kept.")
    return {"enough": (), "low": (low,), "nearly full": (low, full)}[room]


async def jobs(context: Context) -> list[Condition]:
    """Kinds of which jobs failed for good within the last hour. That a letter failed is not worth
    another one."""
    failed = await count_failed(context.db, context.clock.now() - _LATELY)
    return [
        Condition(
            "jobs_failed",
            kind,
            "warning",
            f"Jobs {kind} that failed within the last hour: {count}. See `roost job list --status"
            f" failed --kind {kind}`.",
        )
        for kind, count in failed.items()
        if kind != LETTER.name
    ]


WATCHES = (
    Watch(("engine_down",), engines),
    Watch(("host_silent",), hosts),
    Watch(("disk_low", "disk_full"), disks),
    Watch(("jobs_failed",), jobs),
)
