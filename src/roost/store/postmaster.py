"""What the lock file and the process table say about the server of a data directory."""

import os
from dataclasses import dataclass
from pathlib import Path

_PID_LINE, _STATUS_LINE = 0, 7


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A living server; `ready` when it accepts connections."""

    pid: int
    ready: bool


def find(data: Path) -> Postmaster | None:
    """The living server of `data`, ready or not; None also for the lock file of a dead one."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        pid = int(lines[_PID_LINE])
    except (OSError, ValueError, IndexError):
        return None
    if not works_in(pid, data):
        return None
    ready = len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready"
    return Postmaster(pid, ready)


def works_in(pid: int, data: Path) -> bool:
    """Whether `pid` is a process of the server of `data`: they all work in that directory.

    The number alone does not say it: after a restart of the machine it may be another program's.
    """
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(data)
    except OSError:
        return False


def processes(data: Path) -> list[int]:
    """Every process of the server of `data`, also those that outlive a killed postmaster."""
    return [int(p.name) for p in Path("/proc").glob("[0-9]*") if works_in(int(p.name), data)]
