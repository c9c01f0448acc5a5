"""Processes that outlive us, found again by pid file and checked against /proc.

A pid alone proves nothing: it may have been reused, and a slow init leaves zombies for seconds.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs with `marker` among its arguments."""

    pid: int
    marker: str

    def alive(self) -> bool:
        try:
            state = _stat_fields(self.pid)[0]
            arguments = Path(f"/proc/{self.pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return state not in "ZX" and self.marker.encode() in arguments

    def ended(self) -> bool:
        """Unlike `alive`, it is not misled while the process becomes another program, for which
        it has no arguments for a moment."""
        try:
            return _stat_fields(self.pid)[0] in "ZX"
        except OSError:
            return True

    def cpu_seconds(self) -> float:
        """User and system time. Raises OSError when the process is gone."""
        fields = _stat_fields(self.pid)
        return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS

    def started(self) -> str:
        """When it was, in the host's own terms: no process of the same id has the same. Raises
        OSError when the process is gone."""
        return _stat_fields(self.pid)[19]

    async def gone(self, seconds: float) -> bool:
        """Whether the process ends within so many seconds."""
        descriptor = self.open()
        if descriptor is None:
            return True
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(descriptor, ended.set)
        try:
            async with asyncio.timeout(seconds):
                await ended.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        return True

    def open(self) -> int | None:
        """A descriptor (pidfd) that is readable once the process has ended; None when it has."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return None
        if self.alive():
            return descriptor
        os.close(descriptor)
        return None

    def kill(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self.alive():
                os.kill(self.pid, number)


async def end_process(
    search: Callable[[], Awaitable[Process | None]],
    stop_seconds: float,
    kill_seconds: float,
    asking: signal.Signals = signal.SIGTERM,
) -> bool:
    """Ask what `search` finds to end, and kill it when it does not; whether nothing is left."""
    for number, seconds in ((asking, stop_seconds), (signal.SIGKILL, kill_seconds)):
        process = await search()
        if process is None:
            return True
        process.kill(number)
        if await process.gone(seconds):
            return True
    return False


def find_process(pid_file: Path, marker: str) -> Process | None:
    """The live process that a pid file names, if it is the one meant."""
    try:
        process = Process(int(pid_file.read_text()), marker)
    except (OSError, ValueError):
        return None
    return process if process.alive() else None


def search_process(marker: str) -> Process | None:
    """The live process of this host that has the marker among its arguments."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return next((found for pid in pids if (found := Process(pid, marker)).alive()), None)


@cache
def host_start() -> str:
    """Differs after each start of this host, or of the container that is one for us."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {_stat_fields(1)[19]}"


def _stat_fields(pid: int) -> list[str]:
    """/proc/PID/stat from the state on; the command before it may contain spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
