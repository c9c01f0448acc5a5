"""Copies and mirrors of disks that QEMU makes beside a running guest, as jobs of its own."""

from contextlib import suppress

from pydantic import BaseModel, Field, TypeAdapter
from qemu.qmp.qmp_client import ExecuteError

from roost.engines.qemu.guests.devices import Options
from roost.engines.qemu.guests.monitor import Monitor

OVER = ("waiting", "pending", "aborting", "concluded", "null")
"""The states from which a job only ends."""


class BlockJob(BaseModel):
    """What QEMU says of one; progress is in bytes."""

    id: str
    status: str
    error: str | None = None
    done: int = Field(alias="current-progress")
    total: int = Field(alias="total-progress")


_JOBS = TypeAdapter(list[BlockJob])


async def block_jobs(monitor: Monitor) -> list[BlockJob]:
    """All of a guest, also those that are over and wait to be dismissed."""
    return _JOBS.validate_python(await monitor.execute("query-jobs"))


async def begin_mirror(monitor: Monitor, device: str, target: str, speed: int = 0) -> None:
    """Keep two nodes the same, by a job with the target's name.

    What the guest writes is in both before it is told so. `speed`: bytes a second; 0: no limit.
    """
    mirror: Options = {
        "job-id": target,
        "device": device,
        "target": target,
        "sync": "full",
        "copy-mode": "write-blocking",
        "speed": speed,
        "auto-dismiss": False,
    }
    await monitor.execute("blockdev-mirror", mirror)


async def cancel(monitor: Monitor, name: str, force: bool = False) -> None:
    """Nothing happens to a job that has just ended by itself."""
    with suppress(ExecuteError):
        await monitor.execute("block-job-cancel", {"device": name, "force": force})


async def give_up(monitor: Monitor, job: BlockJob) -> None:
    """Bring it one step nearer to its end, however far it is; one that is concluded is gone."""
    if job.status == "concluded":
        await monitor.execute("job-dismiss", {"id": job.id})
    elif job.status not in OVER:
        await cancel(monitor, job.id, force=True)
